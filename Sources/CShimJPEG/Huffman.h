#pragma once
/* Huffman codes of a JPEG (ITU-T T.81, annexes C and F), several bits or symbols at a look. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The bytes of a scan, as they come. */
typedef struct {
    const uint8_t *end;
    /* No byte from the reader's place to `stop` is 0xFF, and eight can be read at each place in front of `plain_end`. To be
       set back with the reader: it may have passed a 0xFF. */
    const uint8_t *stop, *plain_end;
    /* Whether the bits go up to a marker. */
    int is_at_marker;
    /* Whether nothing comes behind `end`. */
    int has_ended;
} wi_scan_bytes;

/* Where in them the reader is: a small value, which compilers keep in registers. */
typedef struct {
    const uint8_t *next;
    /* The next bits, from the highest on, and behind them zeros, or those that come next. */
    uint64_t bits;
    /* How many of them are there. Below zero: so many zeros were read in their place. */
    int count;
} wi_bits;

/* No symbol takes more: a code of 16 bits and a value of 15. */
enum { WI_LONGEST_SYMBOL = 31 };

/* Fetches bits beside 0xFF, and at the end of the bytes. Returns 0 if more bytes must come first. */
int wi_bits_fill_slowly(wi_scan_bytes *bytes, wi_bits before, wi_bits *after);

/* Has the bits of a symbol there, or all up to the marker or the end. Returns 0 if more bytes must come first. */
static inline __attribute__((always_inline)) int wi_bits_fill(wi_bits *b, wi_scan_bytes *bytes) {
    if (__builtin_expect(b->next < bytes->plain_end, 1)) {
        uint64_t word;
        memcpy(&word, b->next, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        /* The bits of the byte that fits only in part are put there once more when it is counted. */
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
    /* Without a branch, which no processor could foresee. */
    int value = (int)(b->bits >> 1 >> (63 - size)), is_low = b->bits >> 63 == 0;
    wi_bits_drop(b, size);
    return value + (-is_low & (1 - (1 << size)));
}

enum { WI_VALUE_BITS = 10, WI_SKIP_BITS = 12, WI_SKIP_LENGTH = 5, WI_END_OF_BLOCK = 65 };

/* A code, and tables that make it fast to read. */
typedef struct {
    /* By the next bits: a coefficient, by how many places it is behind the last, and its bits; 0 if the bits do not hold all
       of it. The end of a block is WI_END_OF_BLOCK places on. */
    struct {
        float value;
        uint8_t places, length;
    } whole[1 << WI_VALUE_BITS];
    /* By the next bits: how many bits a symbol's code has, and the symbol; 0 for a longer code. */
    uint16_t symbols[1 << WI_VALUE_BITS];
    /* By the next bits: how many bits the coefficients take whose codes begin within them, 0 for a longer code; and above
       WI_SKIP_LENGTH, by how many places they go on, by 64 more if the block ends behind them. */
    uint16_t skips[1 << WI_SKIP_BITS];
    /* For longer codes, by length: the highest code, and what is to be added for its place among the symbols. */
    int32_t highest[17], place[17];
    uint8_t values[256];
} wi_huffman;

/* No first coefficient of a block has more than 15 bits; other symbols have four bits for that, and four for a place. */
enum { WI_MOST_DC_SYMBOL = 15, WI_MOST_AC_SYMBOL = 255 };

/* Makes `symbols`, and what is for longer codes, from the number of codes of each length from 1, and their symbols. The
   table is zero before. Returns 0 for what is no code, or has a symbol above `most`. */
int wi_huffman_make(wi_huffman *table, const uint8_t counts[17], const uint8_t values[256], int most);
/* Makes `whole`. Without it all lookups there find a longer code. */
void wi_huffman_make_whole(wi_huffman *table);
/* Makes `skips`, which takes as long as a thousand blocks. Without it all lookups there find a longer code. */
void wi_huffman_make_skips(wi_huffman *table);

/* As wi_huffman_look, for codes that are longer than the tables have. */
uint32_t wi_huffman_long_symbol(const wi_huffman *table, uint64_t bits);

/* The next symbol, 0 in place of what is no code, and above it how many bits it has. */
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

/* As wi_huffman_next, for what takes more bits than the tables have. */
float wi_huffman_next_long(const wi_huffman *table, wi_bits before, wi_bits *after, int *at);

/* The next coefficient's value; `at` goes to the place behind it, which is beyond 64 at the end of a block. */
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
