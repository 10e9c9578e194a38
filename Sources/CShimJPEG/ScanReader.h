#pragma once
/* The bits of a Huffman-coded scan, between its restart markers. */
#include <stdio.h>
#include <jpeglib.h>
#include "Huffman.h"

typedef struct {
    wi_scan_bytes bytes;
    wi_bits bits;
    /* The number of units between two restarts, 0 without any, and to the next restart. */
    unsigned restart_interval, units_to_restart;
    int next_restart;
    /* Whether the data since the last restart was not enough: the units up to the next restart are not known then. */
    int is_insufficient;
} wi_scan_reader;

void wi_scan_reader_begin(wi_scan_reader *reader, unsigned restart_interval);
/* Reads from the bytes of the source, up to the call of `wi_scan_reader_leave`. */
void wi_scan_reader_enter(wi_scan_reader *reader, const struct jpeg_source_mgr *source, int has_ended);
void wi_scan_reader_leave(wi_scan_reader *reader, struct jpeg_source_mgr *source);

/* Moves to the next marker. Returns its code; 0 if more bytes must arrive first, and 0xD9, as for the end of the image, if the
   bytes have ended. */
int wi_scan_reader_find_marker(wi_scan_reader *reader);
/* Moves behind the restart marker that is due, or finds where it should be (as jpeg_resync_to_restart does). Returns 0 if more
   bytes must arrive first. */
int wi_scan_reader_restart(wi_scan_reader *reader);
