#pragma once
/* Converts a row of three or four components to pixels. */
#include <stdint.h>

typedef void wi_row_colors(const uint8_t *const planes[4], uint8_t *restrict pixels, uint32_t count);

/* Returns the converter from YCbCr (ITU-T T.871) to RGBA with the best instructions of this processor. */
wi_row_colors *wi_row_converter(void);
/* RGBA from red, green and blue. */
wi_row_colors wi_row_merged;
/* Four inks from four inks; and from YCbCr, which stands for the first three, and the fourth. */
wi_row_colors wi_row_inks, wi_row_converted_inks;
