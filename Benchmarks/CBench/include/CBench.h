#pragma once
/* The baselines of the decode benchmark: plain C loops over libjpeg and libpng, one call each, with RGBA pixels in memory from
 * malloc. Also a count of allocations, by replacing malloc. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Decodes a JPEG to RGBA. Returns a checksum of the pixels, 0 after an error.
uint64_t cb_decode_jpeg(const uint8_t *_Nonnull bytes, size_t count, int *_Nonnull width, int *_Nonnull height);
/// Decodes a PNG to 8-bit RGBA. Returns a checksum of the pixels, 0 after an error.
uint64_t cb_decode_png(const uint8_t *_Nonnull bytes, size_t count, int *_Nonnull width, int *_Nonnull height);
/// Encodes an RGBX picture as JPEG, 4:2:0 with optimal Huffman tables. Returns the number of bytes.
size_t cb_encode_jpeg(const uint8_t *_Nonnull pixels, int width, int height, int quality);
/// Encodes an RGBX picture as RGB PNG. Returns the number of bytes.
size_t cb_encode_png(const uint8_t *_Nonnull pixels, int width, int height, int level);
/// The checksum of the two decoders. It samples only some of the pixels, so that it takes almost no time.
uint64_t cb_checksum(const uint8_t *_Nonnull pixels, size_t count);

/// The number of allocations by this thread (malloc, calloc, realloc, posix_memalign, aligned_alloc, memalign).
uint64_t cb_malloc_count(void);
/// The CPU time of this thread in nanoseconds.
uint64_t cb_thread_cpu_nanoseconds(void);
/// The peak memory of the process in KiB.
long cb_peak_kibibytes(void);
/// The CPU time of the process in nanoseconds.
uint64_t cb_process_cpu_nanoseconds(void);

/* The CPU time of children that have ended and were waited for, in nanoseconds. */
uint64_t cb_children_cpu_nanoseconds(void);

/// Makes standard output flush after each line, even if it is a pipe or a file.
void cb_print_by_lines(void);

/// Downloads `url` `count` times with libcurl alone, `concurrent` at a time. Returns the bytes of all bodies.
long cb_download(const char *_Nonnull url, int count, int concurrent, int asks_like_the_downloader);

#ifdef __cplusplus
}
#endif
