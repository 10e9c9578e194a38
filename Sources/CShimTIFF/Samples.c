/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait TIFF, for which
   libtiff need not be installed. */
#if __has_include(<tiffio.h>)

#include <math.h>
#include <string.h>

#include "Reader.h"

int wi_tiff_can_widen(const wi_tiff_reader *reader) {
    switch (reader->sample_format) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_INT: return reader->bits >= 1 && reader->bits <= 32;
    case SAMPLEFORMAT_IEEEFP: return reader->bits == 16 || reader->bits == 32 || reader->bits == 64;
    default: return 0;
    }
}

/* Sample `index` of a row: those of whole bytes come in the machine's byte order, others packed from the highest bit on. */
static uint32_t integer(const uint8_t *row, size_t index, unsigned bits) {
    const uint8_t *place = row + index * (bits / 8);
    if (bits == 8) return *place;
    if (bits == 16) {
        uint16_t value;
        memcpy(&value, place, sizeof value);
        return value;
    }
    if (bits == 32) {
        uint32_t value;
        memcpy(&value, place, sizeof value);
        return value;
    }
    if (bits == 24) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        return place[0] | (uint32_t)place[1] << 8 | (uint32_t)place[2] << 16;
#else
        return place[2] | (uint32_t)place[1] << 8 | (uint32_t)place[0] << 16;
#endif
    }
    uint64_t value = 0;
    size_t first = index * bits / 8, last = (index * bits + bits - 1) / 8;
    for (size_t byte = first; byte <= last; byte++) value = value << 8 | row[byte];
    unsigned behind = (unsigned)((last + 1) * 8 - (index + 1) * bits);
    return (uint32_t)(value >> behind & (((uint64_t)1 << bits) - 1));
}

/* IEEE 754, binary16. */
static double half(uint16_t value) {
    int exponent = value >> 10 & 31;
    double part = value & 1023;
    double size = exponent == 0 ? ldexp(part, -24) : ldexp(part + 1024, exponent - 25);
    // Infinity and NaN are not distinguished from other numbers: both are above all values that can be shown.
    return value >> 15 ? -size : size;
}

static double point(const uint8_t *row, size_t index, unsigned bits) {
    const uint8_t *place = row + index * (bits / 8);
    if (bits == 16) {
        uint16_t value;
        memcpy(&value, place, sizeof value);
        return half(value);
    }
    if (bits == 32) {
        float value;
        memcpy(&value, place, sizeof value);
        return value;
    }
    double value;
    memcpy(&value, place, sizeof value);
    return value;
}

/* A sample as a number from 0 to 65 535: floating-point ones from 0 to 1, signed ones from their least value on. */
static uint16_t widened(const wi_tiff_reader *reader, const uint8_t *row, size_t index) {
    unsigned bits = reader->bits;
    if (reader->sample_format == SAMPLEFORMAT_IEEEFP) {
        double value = point(row, index, bits);
        return value > 0 ? (uint16_t)(value < 1 ? value * 65535 + 0.5 : 65535) : 0;
    }
    uint32_t value = integer(row, index, bits);
    if (reader->sample_format == SAMPLEFORMAT_INT) value ^= (uint32_t)1 << (bits - 1);
    uint64_t most = ((uint64_t)1 << bits) - 1;
    return (uint16_t)((value * (uint64_t)65535 + most / 2) / most);
}

void wi_tiff_widen(const wi_tiff_reader *reader, const uint8_t *input, size_t plane, size_t count) {
    size_t used = reader->used, step = reader->is_planar ? 1 : reader->samples;
    for (size_t number = 0; number < used; number++) {
        const uint8_t *row = reader->is_planar ? input + number * plane : input;
        size_t first = reader->is_planar ? 0 : number;
        for (size_t index = 0; index < count; index++) {
            reader->widened[index * used + number] = widened(reader, row, first + index * step);
        }
    }
}

#endif
