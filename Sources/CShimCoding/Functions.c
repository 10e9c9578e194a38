#include "Functions.h"
#include "CShimCoding.h"
#include <pthread.h>

wi_brotli_functions wi_brotli;
wi_zstd_functions wi_zstd;

typedef struct {
    int result;
    char message[256];
} opening;

static opening brotli, zstd;
static pthread_once_t brotli_once = PTHREAD_ONCE_INIT, zstd_once = PTHREAD_ONCE_INIT;

#define WI_TABLE wi_brotli
static void open_brotli(void) {
    static const char *const names[] = {WI_LIBRARY("brotlidec", "1"), NULL};
    static const wi_function functions[] = {WI_BROTLI_FUNCTIONS(WI_LOOKUP)};
    brotli.result = wi_library_open(
        names, functions, sizeof functions / sizeof *functions, brotli.message, sizeof brotli.message);
}
#undef WI_TABLE

#define WI_TABLE wi_zstd
static void open_zstd(void) {
    static const char *const names[] = {WI_LIBRARY("zstd", "1"), NULL};
    static const wi_function functions[] = {WI_ZSTD_FUNCTIONS(WI_LOOKUP)};
    zstd.result =
        wi_library_open(names, functions, sizeof functions / sizeof *functions, zstd.message, sizeof zstd.message);
}

static const char *fault(const opening *opening) { return opening->result == 0 ? NULL : opening->message; }

const char *wi_coding_library_fault(wi_coding_kind kind) {
    switch (kind) {
    case WI_CODING_BROTLI: pthread_once(&brotli_once, open_brotli); return fault(&brotli);
    case WI_CODING_ZSTD: pthread_once(&zstd_once, open_zstd); return fault(&zstd);
    case WI_CODING_GZIP:
    case WI_CODING_DEFLATE: return NULL;
    }
    return NULL;
}

#ifdef WI_CHECK_DECLARATIONS
WI_BROTLI_FUNCTIONS(WI_SAME_TYPE)
WI_ZSTD_FUNCTIONS(WI_SAME_TYPE)
_Static_assert(BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT == 3, "another code");
_Static_assert(ZSTD_d_windowLogMax == 100, "another parameter");
#endif
