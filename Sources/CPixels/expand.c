// Pixels of three channels become RGBA.
#include "CPixels.h"
#include <string.h>
#include "clones.h"

typedef uint8_t wi_bytes __attribute__((vector_size(16)));

WI_CLONES
void wi_expand_rgb(uint8_t *output, const uint8_t *input, size_t count) {
    const wi_bytes opaque = {0, 0, 0, 255};
    // Sixteen bytes are read for the twelve of four pixels.
    for (; count >= 6; count -= 4, input += 12, output += 16) {
        wi_bytes rgb;
        memcpy(&rgb, input, sizeof rgb);
        wi_bytes rgba = __builtin_shufflevector(rgb, opaque, 0, 1, 2, 19, 3, 4, 5, 19, 6, 7, 8, 19, 9, 10, 11, 19);
        memcpy(output, &rgba, sizeof rgba);
    }
    for (; count > 0; count--, input += 3, output += 4) {
        for (int c = 0; c < 3; c++) output[c] = input[c];
        output[3] = 255;
    }
}

WI_CLONES
void wi_expand_bgr(uint8_t *output, const uint8_t *input, size_t count) {
    const wi_bytes opaque = {0, 0, 0, 255};
    for (; count >= 6; count -= 4, input += 12, output += 16) {
        wi_bytes bgr;
        memcpy(&bgr, input, sizeof bgr);
        wi_bytes rgba = __builtin_shufflevector(bgr, opaque, 2, 1, 0, 19, 5, 4, 3, 19, 8, 7, 6, 19, 11, 10, 9, 19);
        memcpy(output, &rgba, sizeof rgba);
    }
    for (; count > 0; count--, input += 3, output += 4) {
        for (int c = 0; c < 3; c++) output[c] = input[2 - c];
        output[3] = 255;
    }
}
