#pragma once
/* What stands between the scans of a progressive JPEG (ITU-T T.81, B.2.3 and B.2.4), for a reader in place of libjpeg. What
   contradicts the format goes to libjpeg's handler of errors, which must not return, with the code that libjpeg has for it. */
#include <stdio.h>
#include <jpeglib.h>

/* Reads tables, and the header of a scan, into `c`, from the bytes of its source. Returns WI_JPEG_MORE behind the header of a
   scan, WI_JPEG_READY at the end, and WI_JPEG_NEEDS_BYTES. */
int wi_scan_header_read(j_decompress_ptr c, int has_ended);
/* Checks that the scan which was read last may be in a progressive file. */
void wi_scan_header_check(j_decompress_ptr c);
