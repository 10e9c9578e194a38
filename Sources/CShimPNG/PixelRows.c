#include "PixelRows.h"
#include <string.h>

static void plan_gray(wi_pixel_rows *rows, png_color_16p key) {
    int levels = 1 << rows->depth;
    for (int level = 0; level < levels; level++) {
        uint8_t value = (uint8_t)(level * 255 / (levels - 1));
        uint8_t alpha = key && (key->gray & (levels - 1)) == level ? 0 : 255;
        memcpy(rows->table[level], (uint8_t[]){value, value, value, alpha}, 4);
    }
}

static void plan_palette(wi_pixel_rows *rows, png_structp png, png_infop info) {
    png_colorp colors = NULL;
    png_bytep alphas = NULL;
    int count = 0, alpha_count = 0;
    png_get_PLTE(png, info, &colors, &count);
    png_get_tRNS(png, info, &alphas, &alpha_count, NULL);
    /* Indices that the palette does not have are black, as in libpng. */
    for (int place = 0; place < 256; place++) {
        png_color color = colors && place < count ? colors[place] : (png_color){0, 0, 0};
        uint8_t alpha = alphas && place < alpha_count ? alphas[place] : 255;
        memcpy(rows->table[place], (uint8_t[]){color.red, color.green, color.blue, alpha}, 4);
    }
}

void wi_pixel_rows_plan(wi_pixel_rows *rows, png_structp png, png_infop info, int is_wide) {
    memset(rows, 0, sizeof *rows);
    rows->width = png_get_image_width(png, info);
    rows->channels = png_get_channels(png, info);
    rows->depth = png_get_bit_depth(png, info);
    rows->is_wide = is_wide;
    size_t bits = (size_t)rows->channels * (size_t)rows->depth;
    rows->pixel_bytes = bits < 8 ? 1 : bits / 8;
    rows->row_bytes = ((size_t)rows->width * bits + 7) / 8;
    int color = png_get_color_type(png, info);
    png_color_16p key = NULL;
    if (color != PNG_COLOR_TYPE_PALETTE) png_get_tRNS(png, info, NULL, NULL, &key);
    if (key) {
        rows->has_key = 1;
        int is_color = color & PNG_COLOR_MASK_COLOR;
        uint16_t most = rows->depth == 16 ? 0xFFFF : 0xFF;
        rows->key[0] = (is_color ? key->red : key->gray) & most;
        rows->key[1] = (is_color ? key->green : key->gray) & most;
        rows->key[2] = (is_color ? key->blue : key->gray) & most;
    }
    if (color == PNG_COLOR_TYPE_PALETTE) {
        rows->kind = WI_ROWS_TABLE;
        plan_palette(rows, png, info);
    } else if (rows->depth == 16) {
        rows->kind = WI_ROWS_16;
    } else if (color == PNG_COLOR_TYPE_GRAY) {
        rows->kind = WI_ROWS_TABLE;
        plan_gray(rows, key);
    } else if (color == PNG_COLOR_TYPE_GRAY_ALPHA) {
        rows->kind = WI_ROWS_GRAY_ALPHA_8;
    } else {
        rows->kind = key ? WI_ROWS_KEYED_8 : WI_ROWS_COLORS_8;
    }
}

static void expand_table(const wi_pixel_rows *rows, const uint8_t *bytes, uint8_t *out) {
    if (rows->depth == 8) {
        for (uint32_t x = 0; x < rows->width; x++) memcpy(out + 4 * (size_t)x, rows->table[bytes[x]], 4);
        return;
    }
    unsigned depth = (unsigned)rows->depth, mask = (1u << depth) - 1, shift = 8;
    for (uint32_t x = 0; x < rows->width; x++) {
        shift -= depth;
        memcpy(out + 4 * (size_t)x, rows->table[*bytes >> shift & mask], 4);
        if (shift == 0) {
            shift = 8;
            bytes++;
        }
    }
}

static void expand_keyed(const wi_pixel_rows *rows, const uint8_t *bytes, uint8_t *out) {
    for (uint32_t x = 0; x < rows->width; x++, bytes += 3, out += 4) {
        int is_key = bytes[0] == rows->key[0] && bytes[1] == rows->key[1] && bytes[2] == rows->key[2];
        memcpy(out, (uint8_t[]){bytes[0], bytes[1], bytes[2], is_key ? 0 : 255}, 4);
    }
}

static void expand_gray_alpha(const wi_pixel_rows *rows, const uint8_t *bytes, uint8_t *out) {
    for (uint32_t x = 0; x < rows->width; x++, bytes += 2, out += 4)
        memcpy(out, (uint8_t[]){bytes[0], bytes[0], bytes[0], bytes[1]}, 4);
}

/* The nearest 8 bits. */
static inline uint8_t narrow(uint16_t value) { return (uint8_t)((value * 255u + 32895u) >> 16); }

static inline __attribute__((always_inline)) void expand_16(
    const wi_pixel_rows *rows, const uint8_t *bytes, uint8_t *out, int channels, int is_wide) {
    for (uint32_t x = 0; x < rows->width; x++, bytes += 2 * channels) {
        uint16_t sample[4];
        for (int c = 0; c < channels; c++) sample[c] = (uint16_t)(bytes[2 * c] << 8 | bytes[2 * c + 1]);
        uint16_t pixel[4] = {sample[0], sample[channels < 3 ? 0 : 1], sample[channels < 3 ? 0 : 2], 0xFFFF};
        if (channels == 2) pixel[3] = sample[1];
        if (channels == 4) pixel[3] = sample[3];
        if (rows->has_key && pixel[0] == rows->key[0] && pixel[1] == rows->key[1] && pixel[2] == rows->key[2])
            pixel[3] = 0;
        if (is_wide) {
            memcpy(out + 8 * (size_t)x, pixel, 8);
        } else {
            uint8_t small[4] = {narrow(pixel[0]), narrow(pixel[1]), narrow(pixel[2]), narrow(pixel[3])};
            memcpy(out + 4 * (size_t)x, small, 4);
        }
    }
}

void wi_pixel_rows_expand(const wi_pixel_rows *rows, const uint8_t *bytes, uint8_t *out) {
    switch (rows->kind) {
    case WI_ROWS_TABLE: expand_table(rows, bytes, out); return;
    case WI_ROWS_KEYED_8: expand_keyed(rows, bytes, out); return;
    case WI_ROWS_GRAY_ALPHA_8: expand_gray_alpha(rows, bytes, out); return;
    case WI_ROWS_COLORS_8: return;
    case WI_ROWS_16: break;
    }
    switch (rows->channels * 2 + rows->is_wide) {
    case 2: expand_16(rows, bytes, out, 1, 0); return;
    case 3: expand_16(rows, bytes, out, 1, 1); return;
    case 4: expand_16(rows, bytes, out, 2, 0); return;
    case 5: expand_16(rows, bytes, out, 2, 1); return;
    case 6: expand_16(rows, bytes, out, 3, 0); return;
    case 7: expand_16(rows, bytes, out, 3, 1); return;
    case 8: expand_16(rows, bytes, out, 4, 0); return;
    default: expand_16(rows, bytes, out, 4, 1); return;
    }
}
