#pragma once
/* Huffman codes of a JPEG (ITU-T T.81, annexes C and F), decoded several bits or symbols at a time. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes of a scan that have arrived. */
typedef struct {
    const uint8_t *end;
    /* No byte from the reader's position to `stop` is 0xFF, and eight bytes can be read at each position before `plain_end`. If
       the reader is set back, these must be too, because it may have passed a 0xFF. */
    const uint8_t *stop, *plain_end;
    /* Whether the bits end at a marker. */
    int is_at_marker;
    /* Whether no bytes will follow `end`. */
    int has_ended;
} wi_scan_bytes;

/* The reader's position in the bytes: a small value, which compilers keep in registers. */
typedef struct {
    const uint8_t *next;
    /* The next bits, from the highest on. After the counted ones come zeros, or the bits that follow. */
    uint64_t bits;
    /* How many bits are available. If negative, so many zeros were read in place of missing bits. */
    int count;
} wi_bits;

/* The bits of the longest symbol: a code of 16 bits and a value of 15. */
enum { WI_LONGEST_SYMBOL = 31 };

/* Fetches bits near a 0xFF, and at the end of the bytes. Returns 0 if more bytes must arrive first. */
int wi_bits_fill_slowly(wi_scan_bytes *bytes, wi_bits before, wi_bits *after);

/* Makes the bits of a symbol available, or all bits up to the marker or the end. Returns 0 if more bytes must arrive first. */
static inline __attribute__((always_inline)) int wi_bits_fill(wi_bits *b, wi_scan_bytes *bytes) {
    if (__builtin_expect(b->next < bytes->plain_end, 1)) {
        uint64_t word;
        memcpy(&word, b->next, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        /* A byte that fits only in part is not counted; its bits are put here again by the next call. */
        b->bits |= word >> b->count;
        b->next += (63 - b->count) >> 3;
        b->count |= 56;
        return 1;
    }
    wi_bits after;
    int is_filled = wi_bits_fill_slowly(bytes, *b, &after);
    b->next = after.next;
    b->bits = after.bits;
    b->count = after.count;
    return is_filled;
}

static inline void wi_bits_drop(wi_bits *b, int count) {
    b->bits <<= count;
    b->count -= count;
}

/* The next `size` bits, at most 15, as a signed value (F.2.2.1, EXTEND). */
static inline int wi_bits_value(wi_bits *b, int size) {
    /* Without a branch, because no processor could predict it. */
    int value = (int)(b->bits >> 1 >> (63 - size)), is_low = b->bits >> 63 == 0;
    wi_bits_drop(b, size);
    return value + (-is_low & (1 - (1 << size)));
}

enum { WI_VALUE_BITS = 10, WI_SKIP_BITS = 12, WI_SKIP_LENGTH = 5, WI_END_OF_BLOCK = 65 };

/* A Huffman code, and tables for decoding it fast. */
typedef struct {
    /* Indexed by the next bits: the value of a coefficient, how many places it is after the last one, and how many bits it has; 0
       if the index does not contain all of these. The end of a block is WI_END_OF_BLOCK places away. */
    struct {
        float value;
        uint8_t places, length;
    } whole[1 << WI_VALUE_BITS];
    /* Indexed by the next bits: how many bits the code of a symbol has, and the symbol; 0 for a longer code. */
    uint16_t symbols[1 << WI_VALUE_BITS];
    /* Indexed by the next bits: how many bits the coefficients have whose codes lie within the index, 0 for a longer code; and
       above WI_SKIP_LENGTH, by how many places they advance, plus 64 if the block ends after them. */
    uint16_t skips[1 << WI_SKIP_BITS];
    /* For longer codes, by length: the highest code, and what must be added to a code for the position of its symbol. */
    int32_t highest[17], place[17];
    uint8_t values[256];
} wi_huffman;

/* The highest symbols. The first coefficient of a block has at most 15 bits; other symbols have four bits for that number, and
   four for a place. */
enum { WI_MOST_DC_SYMBOL = 15, WI_MOST_AC_SYMBOL = 255 };

/* Makes `symbols` and the fields for longer codes from the number of codes of each length from 1, and their symbols. The table
   must be zeroed before. Returns 0 if they are not a valid code, or have a symbol above `most`. */
int wi_huffman_make(wi_huffman *table, const uint8_t counts[17], const uint8_t values[256], int most);
/* Makes `whole`. Without this call, all lookups in it find a longer code. */
void wi_huffman_make_whole(wi_huffman *table);
/* Makes `skips`, which takes as long as decoding a thousand blocks. Without this call, all lookups in it find a longer code. */
void wi_huffman_make_skips(wi_huffman *table);

/* Like wi_huffman_look, for codes that are longer than those in the tables. */
uint32_t wi_huffman_long_symbol(const wi_huffman *table, uint64_t bits);

/* Returns the next symbol, 0 for an invalid code, and in the bits above it the length of its code. */
static inline __attribute__((always_inline)) uint32_t wi_huffman_look(const wi_huffman *table, uint64_t bits) {
    uint32_t entry = table->symbols[bits >> (64 - WI_VALUE_BITS)];
    return __builtin_expect(entry != 0, 1) ? entry : wi_huffman_long_symbol(table, bits);
}

/* Reads the next symbol. */
static inline __attribute__((always_inline)) int wi_huffman_symbol(const wi_huffman *table, wi_bits *b) {
    uint32_t entry = wi_huffman_look(table, b->bits);
    wi_bits_drop(b, (int)(entry >> 8));
    return entry & 0xFF;
}

/* Like wi_huffman_next, for coefficients with more bits than those in the tables. */
float wi_huffman_next_long(const wi_huffman *table, wi_bits before, wi_bits *after, int *at);

/* Reads the next coefficient and returns its value. `at` advances to the place after it, which is beyond 64 at the end of a block.
   */
static inline __attribute__((always_inline)) float wi_huffman_next(const wi_huffman *table, wi_bits *b, int *at) {
    uint32_t index = (uint32_t)(b->bits >> (64 - WI_VALUE_BITS));
    if (__builtin_expect(table->whole[index].length != 0, 1)) {
        wi_bits_drop(b, table->whole[index].length);
        *at += table->whole[index].places;
        return table->whole[index].value;
    }
    wi_bits after;
    int behind = *at;
    float value = wi_huffman_next_long(table, *b, &after, &behind);
    *at = behind;
    b->bits = after.bits;
    b->count = after.count;
    return value;
}
