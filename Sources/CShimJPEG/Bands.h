#pragma once
/* Bands of coefficients of a progressive JPEG (ITU-T T.81, G.1.2.2 and G.1.2.3), of which only some are kept. */
#include <stddef.h>
#include <stdint.h>
#include "ScanReader.h"

/* What is known of the blocks of a component. */
typedef struct {
    /* For each block the coefficients that are kept, and which of all are not zero. */
    int16_t *values;
    uint64_t *nonzero;
    /* Which of a block's coefficients are kept, how many, and where among the values. */
    uint64_t kept;
    int value_count;
    uint8_t slots[DCTSIZE2];
} wi_blocks;

typedef struct wi_band wi_band;
struct wi_band {
    /* Its coefficients, and the bit of them that it says, or up to which it says all. */
    int first, last, low;
    const wi_huffman *code;
    /* For how many blocks from the next on nothing follows. */
    uint32_t ended_blocks;
    /* Reads `count` blocks from the block `at` on. Returns how many: fewer if more bytes must come first, or the data was not
       enough for the last of them. */
    uint32_t (*read)(wi_band *band, wi_scan_reader *reader, const wi_blocks *blocks, size_t at, uint32_t count);
};

/* A band of coefficients that come for the first time, or get a further bit. */
wi_band wi_band_begin(int first, int last, int low, int is_refining, const wi_huffman *code);
