#pragma once
#include "CShimLibrary.h"
#include <stddef.h>
#include <stdint.h>

/* Our declarations of what we use of Brotli and Zstandard, so that a build does not need their headers. With WI_CHECK_DECLARATIONS
   the headers are included, so that the compiler reports a declaration that differs (`scripts/check-builds`). */

#ifdef WI_CHECK_DECLARATIONS
#include <brotli/decode.h>
#include <zstd.h>
#else

typedef int BROTLI_BOOL;
typedef struct BrotliDecoderStateStruct BrotliDecoderState;
typedef void *(*brotli_alloc_func)(void *opaque, size_t size);
typedef void (*brotli_free_func)(void *opaque, void *address);
typedef enum {
    BROTLI_DECODER_RESULT_ERROR = 0,
    BROTLI_DECODER_RESULT_SUCCESS = 1,
    BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT = 2,
    BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT = 3
} BrotliDecoderResult;

typedef struct ZSTD_DCtx_s ZSTD_DStream;
typedef struct {
    const void *src;
    size_t size;
    size_t pos;
} ZSTD_inBuffer;
typedef struct {
    void *dst;
    size_t size;
    size_t pos;
} ZSTD_outBuffer;
typedef enum { ZSTD_d_windowLogMax = 100 } ZSTD_dParameter;

#endif

#define WI_BROTLI_FUNCTIONS(F) \
    F(BrotliDecoderState *, BrotliDecoderCreateInstance, (brotli_alloc_func, brotli_free_func, void *)) \
    F(void, BrotliDecoderDestroyInstance, (BrotliDecoderState * state)) \
    F(BrotliDecoderResult, BrotliDecoderDecompressStream, \
      (BrotliDecoderState * state, size_t *available_in, const uint8_t **next_in, size_t *available_out, \
       uint8_t **next_out, size_t *total_out))

#define WI_ZSTD_FUNCTIONS(F) \
    F(ZSTD_DStream *, ZSTD_createDStream, (void)) \
    F(size_t, ZSTD_freeDStream, (ZSTD_DStream * stream)) \
    F(size_t, ZSTD_DCtx_setParameter, (ZSTD_DStream * stream, ZSTD_dParameter parameter, int value)) \
    F(size_t, ZSTD_decompressStream, (ZSTD_DStream * stream, ZSTD_outBuffer * output, ZSTD_inBuffer * input)) \
    F(unsigned, ZSTD_isError, (size_t code))

typedef struct {
    WI_BROTLI_FUNCTIONS(WI_POINTER)
} wi_brotli_functions;

typedef struct {
    WI_ZSTD_FUNCTIONS(WI_POINTER)
} wi_zstd_functions;

/// Filled by `wi_coding_library_fault`.
extern wi_brotli_functions wi_brotli;
extern wi_zstd_functions wi_zstd;
