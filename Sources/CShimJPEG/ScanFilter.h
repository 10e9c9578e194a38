#pragma once
/* Takes out of a progressive JPEG's data what a picture of an eighth of the size does not show: for components of which it
   has a pixel for each block, all coefficients but the first. They are most of a file, and need not be decoded to be left out: a
   scan ends at the next marker. */
#include <stddef.h>
#include <stdint.h>

typedef struct {
    enum {
        WI_SCAN_DATA,
        WI_SCAN_DATA_FF,
        WI_SCAN_BETWEEN,
        WI_SCAN_BETWEEN_FF,
        WI_SCAN_LENGTH,
        WI_SCAN_SEGMENT,
        WI_SCAN_HEADER,
    } state;
    /* The identifiers of components of which only the first coefficients are wanted. */
    uint8_t components[4];
    int component_count;
    /* Whether the scan at hand is left out. */
    int drops;
    /* What is to come of a segment. */
    size_t rest;
    /* A scan's header, or a segment's length, as far as it is there. */
    uint8_t header[32];
    size_t header_count;
} wi_scan_filter;

/* Begins behind the header of a file's first scan, which stays; then `components` is to be filled. */
void wi_scan_filter_begin(wi_scan_filter *f);
/* Copies what stays of `count` bytes to `output`, which has room for `count` and for a header that was held back. Returns how
   many stay. */
size_t wi_scan_filter_run(wi_scan_filter *f, const uint8_t *bytes, size_t count, uint8_t *output);
