#pragma once
/* What the decode benchmark compares with: the bare C loops of libjpeg and libpng, one call, RGBA, memory from malloc;
   and a count of allocations, by standing in front of malloc. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Decodes a JPEG to RGBA. A checksum of the pixels, 0 after an error.
uint64_t cb_decode_jpeg(const uint8_t *_Nonnull bytes, size_t count, int *_Nonnull width, int *_Nonnull height);
/// Decodes a PNG to 8-bit RGBA. A checksum of the pixels, 0 after an error.
uint64_t cb_decode_png(const uint8_t *_Nonnull bytes, size_t count, int *_Nonnull width, int *_Nonnull height);
/// Writes an RGBX picture as JPEG, 4:2:0 with optimal Huffman tables. How many bytes it took.
size_t cb_encode_jpeg(const uint8_t *_Nonnull pixels, int width, int height, int quality);
/// Writes an RGBX picture as RGB PNG. How many bytes it took.
size_t cb_encode_png(const uint8_t *_Nonnull pixels, int width, int height, int level);
/// The checksum that both give: samples some of the pixels, so that it costs next to nothing.
uint64_t cb_checksum(const uint8_t *_Nonnull pixels, size_t count);

/// How often this thread has asked for memory (malloc, calloc, realloc, posix_memalign, aligned_alloc, memalign).
uint64_t cb_malloc_count(void);
/// The CPU time of this thread in nanoseconds.
uint64_t cb_thread_cpu_nanoseconds(void);
/// The most memory that the process had so far, in KiB.
long cb_peak_kibibytes(void);
/// The CPU time of the process in nanoseconds.
uint64_t cb_process_cpu_nanoseconds(void);

/* CPU that children have used that ended and were waited for. */
uint64_t cb_children_cpu_nanoseconds(void);

/// From now on each line that is printed is there at once, also in a pipe or a file.
void cb_print_by_lines(void);

/// Downloads `url` so many times with libcurl alone, so many at once; returns the bytes of all bodies.
long cb_download(const char *_Nonnull url, int count, int concurrent, int asks_like_the_downloader);

#ifdef __cplusplus
}
#endif
