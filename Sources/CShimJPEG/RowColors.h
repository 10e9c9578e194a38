#pragma once
/* Makes RGBA of a row of three components. */
#include <stdint.h>

typedef void wi_row_colors(
    const uint8_t *first, const uint8_t *second, const uint8_t *third, uint8_t *restrict rgba, uint32_t count);

/* From brightness, blue and red (ITU-T T.871), by the best instructions that there are. */
wi_row_colors *wi_row_converter(void);
/* From red, green and blue. */
wi_row_colors wi_row_merged;
