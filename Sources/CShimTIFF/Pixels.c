/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait TIFF, for which
   libtiff need not be installed. */
#if __has_include(<tiffio.h>)

#include <math.h>
#include <string.h>

#include "CPixels.h"
#include "Reader.h"

/// Widens a sample to 16 bits.
static uint32_t sample(unsigned bits, const uint8_t *input) {
    if (bits == 8) return *input * 257u;
    uint16_t value;
    memcpy(&value, input, sizeof value);
    return value;
}

/// The nearest of 256 levels.
static uint8_t byte(uint32_t value) { return (uint8_t)((value * 255 + 32895) >> 16); }

int wi_tiff_is_plain_rgb(const wi_tiff_reader *reader) {
    return reader->bits == 8 && !reader->is_16_bit && reader->widened == NULL && reader->photometric == PHOTOMETRIC_RGB &&
        reader->sample_format == SAMPLEFORMAT_UINT && reader->alpha != WI_TIFF_ALPHA_ASSOCIATED;
}

static void expand_rgb(const wi_tiff_reader *reader, uint8_t *output, const uint8_t *input, size_t count) {
    size_t step = reader->samples;
    int has_alpha = reader->alpha != 0;
    if (step == 3) {
        reader->has_differences ? wi_sum_rgb(output, input, count) : wi_expand_rgb(output, input, count);
        return;
    }
    if (reader->has_differences) {
        wi_sum_rgba(output, input, count);
        for (size_t pixel = 0; pixel < count && !has_alpha; pixel++) output[pixel * 4 + 3] = 255;
        return;
    }
    for (size_t pixel = 0; pixel < count; pixel++, input += step, output += 4) {
        output[0] = input[0];
        output[1] = input[1];
        output[2] = input[2];
        output[3] = has_alpha ? input[3] : 255;
    }
}

/* Writes a pixel of four inks with 8 bits each: as they are, or as an opaque colour. */
static void expand_inks(const wi_tiff_reader *reader, uint8_t *output, const uint8_t inks[4]) {
    for (int index = 0; index < 4; index++) {
        unsigned left = 255u - inks[index], white = 255u - inks[3];
        output[index] = reader->keeps_inks ? inks[index] : index == 3 ? 255 : (uint8_t)((left * white + 127) / 255);
    }
}

/* Converts a sample of L*a*b* to ICC's encoding. In a TIFF a* and b* are signed, and with 16 bits one unit is 256, not 257 as in
   ICC (TIFF 6.0, section 23). */
static uint32_t lab(const wi_tiff_reader *reader, size_t color, uint32_t value) {
    if (color == 0) return value;
    if (reader->bits == 8) return value ^ 0x8080;
    value ^= 0x8000;
    value += (value + 128) / 256;
    return value < 0xFFFF ? value : 0xFFFF;
}

void wi_tiff_expand(const wi_tiff_reader *reader, uint8_t *output, const uint8_t *input, size_t plane, size_t count) {
    unsigned bits = reader->bits;
    size_t step = reader->samples;
    if (reader->widened != NULL) {
        wi_tiff_widen(reader, input, plane, count);
        input = (const uint8_t *)reader->widened;
        bits = 16;
        step = reader->used;
    } else if (wi_tiff_is_plain_rgb(reader)) {
        expand_rgb(reader, output, input, count);
        return;
    }
    size_t sample_size = bits / 8;
    size_t colors = reader->colors;
    if (colors == 4) {
        for (size_t pixel = 0; pixel < count; pixel++, input += step * sample_size) {
            uint8_t inks[4];
            uint32_t alpha = reader->alpha != 0 ? sample(bits, input + 4 * sample_size) : 0xFFFF;
            for (size_t ink = 0; ink < 4; ink++) {
                uint32_t value = sample(bits, input + ink * sample_size);
                if (reader->alpha == WI_TIFF_ALPHA_ASSOCIATED) value = wi_straight_sample(value, alpha, 0xFFFF);
                inks[ink] = byte(value);
            }
            expand_inks(reader, output + pixel * 4, inks);
            if (reader->alpha != 0) output[pixel * 4 + 3] = byte(alpha);
        }
        return;
    }
    uint32_t flip = reader->photometric == PHOTOMETRIC_MINISWHITE ? 0xFFFF : 0;
    for (size_t pixel = 0; pixel < count; pixel++, input += step * sample_size) {
        uint32_t value[4] = {0, 0, 0, 0xFFFF};
        for (size_t color = 0; color < 3; color++) {
            value[color] = sample(bits, input + (colors == 3 ? color : 0) * sample_size) ^ flip;
        }
        if (reader->palette[0] != NULL) {
            for (size_t color = 0; color < 3; color++) {
                // Samples of fewer bits have been widened.
                uint32_t index = (value[color] * reader->palette_last + 0x7FFF) / 0xFFFF;
                value[color] = reader->palette[color][index] * reader->palette_scale;
            }
        }
        if (reader->photometric == PHOTOMETRIC_CIELAB) {
            for (size_t color = 0; color < 3; color++) value[color] = lab(reader, color, value[color]);
        }
        if (reader->alpha != 0) value[3] = sample(bits, input + colors * sample_size);
        for (size_t channel = 0; channel < 4; channel++) {
            uint32_t result = value[channel];
            if (channel < 3 && reader->alpha == WI_TIFF_ALPHA_ASSOCIATED) result = wi_straight_sample(result, value[3], 0xFFFF);
            if (reader->is_16_bit) {
                uint16_t wide = (uint16_t)result;
                memcpy(output + pixel * 8 + channel * 2, &wide, sizeof wide);
            } else {
                output[pixel * 4 + channel] = byte(result);
            }
        }
    }
}

/// sRGB's curve (IEC 61966-2-1) in place of the square root by which libtiff makes colours of LogL and LogLuv.
void wi_tiff_curve_light(uint8_t *pixels, size_t count) {
    uint8_t shown[256];
    for (int level = 0; level < 256; level++) {
        // libtiff has cut off the fraction.
        float root = level == 0 ? 0 : ((float)level + 0.5f) / 256, light = root * root;
        float value = light <= 0.0031308f ? 12.92f * light : 1.055f * powf(light, 1 / 2.4f) - 0.055f;
        shown[level] = level == 255 ? 255 : (uint8_t)(value * 255 + 0.5f);
    }
    for (size_t pixel = 0; pixel < count; pixel++, pixels += 4) {
        for (int channel = 0; channel < 3; channel++) pixels[channel] = shown[pixels[channel]];
    }
}

void wi_tiff_make_straight(uint8_t *pixels, size_t count) { wi_unpremultiply_8(pixels, count); }

#endif
