#pragma once
/* Makes pixels of a row of three or four components. */
#include <stdint.h>

typedef void wi_row_colors(const uint8_t *const planes[4], uint8_t *restrict pixels, uint32_t count);

/* RGBA from brightness, blue and red (ITU-T T.871), by the best instructions that there are. */
wi_row_colors *wi_row_converter(void);
/* RGBA from red, green and blue. */
wi_row_colors wi_row_merged;
/* Four inks from four inks, and from brightness, blue and red, which stand for the first three, and the fourth. */
wi_row_colors wi_row_inks, wi_row_converted_inks;
