#pragma once
/* Reads the segments between the scans of a progressive JPEG (ITU-T T.81, B.2.3 and B.2.4), in place of libjpeg. Violations of the
   format are passed to libjpeg's error handler, which must not return, with libjpeg's own codes. */
#include <stdio.h>
#include <jpeglib.h>

/* Reads tables, and the header of a scan, into `c`, from the bytes of its source. Returns WI_JPEG_MORE after the header of a scan,
   WI_JPEG_READY at the end, or WI_JPEG_NEEDS_BYTES. */
int wi_scan_header_read(j_decompress_ptr c, int has_ended);
/* Checks that the scan which was read last may be in a progressive file. */
void wi_scan_header_check(j_decompress_ptr c);
