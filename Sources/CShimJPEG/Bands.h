#pragma once
/* Bands of coefficients of a progressive JPEG (ITU-T T.81, G.1.2.2 and G.1.2.3), of which only some are kept. */
#include <stddef.h>
#include <stdint.h>
#include "ScanReader.h"

/* The known coefficients of a component's blocks. */
typedef struct {
    /* For each block: the coefficients that are kept, and the set of all that are not zero. */
    int16_t *values;
    uint64_t *nonzero;
    /* The set of a block's coefficients that are kept, their number, and their positions among the values. */
    uint64_t kept;
    int value_count;
    uint8_t slots[DCTSIZE2];
} wi_blocks;

typedef struct wi_band wi_band;
struct wi_band {
    /* The first and the last coefficient of the band, and the lowest bit of them that it contains. */
    int first, last, low;
    const wi_huffman *code;
    /* For how many blocks, from the next one on, the band contains nothing more. */
    uint32_t ended_blocks;
    /* Reads `count` blocks from the block `at` on. Returns how many were read: fewer if more bytes must arrive first, or the data
       was not enough for the last of them. */
    uint32_t (*read)(wi_band *band, wi_scan_reader *reader, const wi_blocks *blocks, size_t at, uint32_t count);
};

/* Begins a band whose coefficients come for the first time, or get a further bit. */
wi_band wi_band_begin(int first, int last, int low, int is_refining, const wi_huffman *code);
