#include "Huffman.h"

int wi_bits_fill_slowly(wi_scan_bytes *bytes, wi_bits b, wi_bits *after) {
    /* Clears the bits that `wi_bits_fill` has put after those that it counted. */
    b.bits &= b.count <= 0 ? 0 : ~(uint64_t)0 << (64 - b.count);
    while (b.count < 56 && b.next < bytes->end && !bytes->is_at_marker) {
        uint8_t byte = *b.next;
        if (byte == 0xFF) {
            if (b.next + 1 == bytes->end) break;
            uint8_t second = b.next[1];
            if (second != 0 && second != 0xFF) {
                bytes->is_at_marker = 1;
                break;
            }
            b.next++;
            if (second == 0xFF) continue;
        }
        b.next++;
        b.bits |= (uint64_t)byte << (56 - b.count);
        b.count += 8;
    }
    if (b.next > bytes->stop) {
        const uint8_t *found = memchr(b.next, 0xFF, (size_t)(bytes->end - b.next));
        bytes->stop = found ? found : bytes->end;
        bytes->plain_end = bytes->stop - b.next >= 8 ? bytes->stop - 7 : b.next;
    }
    *after = b;
    return b.count >= WI_LONGEST_SYMBOL || bytes->is_at_marker || bytes->has_ended;
}

static int make_symbols(wi_huffman *table, const uint8_t counts[17]) {
    int32_t code = 0, place = 0;
    for (int length = 1; length <= 16; length++, code <<= 1) {
        table->place[length] = place - code;
        for (int index = 0; index < counts[length]; index++, code++, place++) {
            if (place >= 256 || code >= 1 << length) return 0;
            if (length > WI_VALUE_BITS) continue;
            int rest = WI_VALUE_BITS - length;
            for (int low = 0; low < 1 << rest; low++)
                table->symbols[code << rest | low] = (uint16_t)(length << 8 | table->values[place]);
        }
        table->highest[length] = code - 1;
    }
    return 1;
}

/* Whether a symbol ends a block (F.1.2.2). As in libjpeg, some invalid symbols do so, too. */
static int ends_block(int symbol) { return (symbol & 15) == 0 && symbol != 0xF0; }

/* By how many places a symbol advances, including the coefficient that it announces. */
static int places(int symbol) { return ends_block(symbol) ? WI_END_OF_BLOCK : (symbol >> 4) + 1; }

void wi_huffman_make_whole(wi_huffman *table) {
    for (uint32_t index = 0; index < 1 << WI_VALUE_BITS; index++) {
        uint16_t entry = table->symbols[index];
        int symbol = entry & 0xFF, length = (entry >> 8) + (symbol & 15);
        if (entry == 0 || length > WI_VALUE_BITS) continue;
        wi_bits bits = {.bits = (uint64_t)index << (64 - WI_VALUE_BITS)};
        wi_bits_drop(&bits, entry >> 8);
        table->whole[index].value = (float)wi_bits_value(&bits, symbol & 15);
        table->whole[index].places = (uint8_t)places(symbol);
        table->whole[index].length = (uint8_t)length;
    }
}

void wi_huffman_make_skips(wi_huffman *table) {
    for (uint32_t index = 0; index < 1 << WI_SKIP_BITS; index++) {
        int length = 0, sum = 0;
        while (sum < 64 && length < WI_SKIP_BITS) {
            uint32_t rest = (index << length) & ((1 << WI_SKIP_BITS) - 1);
            uint16_t entry = table->symbols[rest >> (WI_SKIP_BITS - WI_VALUE_BITS)];
            if (entry == 0 || (entry >> 8) > WI_SKIP_BITS - length) break;
            int symbol = entry & 0xFF, further = ends_block(symbol) ? 64 : places(symbol);
            /* Coefficients beyond the end of a block are left to the next lookup. */
            if (further < 64 && sum + further >= 64) break;
            length += (entry >> 8) + (symbol & 15);
            sum += further;
        }
        table->skips[index] = (uint16_t)(sum << WI_SKIP_LENGTH | length);
    }
}

int wi_huffman_make(wi_huffman *table, const uint8_t counts[17], const uint8_t values[256], int most) {
    int symbols = 0;
    for (int length = 1; length <= 16; length++) symbols += counts[length];
    for (int index = 0; index < symbols && index < 256; index++)
        if (values[index] > most) return 0;
    memcpy(table->values, values, sizeof table->values);
    return make_symbols(table, counts);
}

/* An invalid code counts as having 17 bits, as in libjpeg, which then looks for a longer one. */
uint32_t wi_huffman_long_symbol(const wi_huffman *table, uint64_t bits) {
    for (int length = WI_VALUE_BITS + 1; length <= 16; length++) {
        int32_t code = (int32_t)(bits >> (64 - length)), place = code + table->place[length];
        if (code <= table->highest[length] && place >= 0 && place <= 255) return (uint32_t)length << 8 | table->values[place];
    }
    return 17 << 8;
}

float wi_huffman_next_long(const wi_huffman *table, wi_bits b, wi_bits *after, int *at) {
    int symbol = wi_huffman_symbol(table, &b);
    *at += places(symbol);
    float value = (float)wi_bits_value(&b, symbol & 15);
    *after = b;
    return value;
}
