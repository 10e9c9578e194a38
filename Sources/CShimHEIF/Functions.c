/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait HEIF, for which
   libheif and libde265 need not be installed. */
#if __has_include(<libheif/heif_plugin.h>) && __has_include(<libde265/de265.h>)

#include "CShimHEIF.h"
#include "Trampolines.h"
#include "Functions.h"
#include <pthread.h>

#ifdef __linux__

WI_HEIF_FUNCTIONS(WI_TRAMPOLINE)
WI_DE265_FUNCTIONS(WI_TRAMPOLINE)
static const wi_function of_heif[] = {WI_HEIF_FUNCTIONS(WI_SLOT)};
static const wi_function of_de265[] = {WI_DE265_FUNCTIONS(WI_SLOT)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char message[256];
static int result;

static void open_library(void) {
    static const char *const heif[] = {WI_LIBRARY("heif", "1"), "libheif.so", NULL};
    static const char *const de265[] = {WI_LIBRARY("de265", "0"), "libde265.so", NULL};
    result = wi_library_open(heif, of_heif, sizeof of_heif / sizeof *of_heif, message, sizeof message);
    if (result != 0) return;
    result = wi_library_open(de265, of_de265, sizeof of_de265 / sizeof *of_de265, message, sizeof message);
}

const char *wi_heif_library_fault(void) {
    pthread_once(&once, open_library);
    return result == 0 ? NULL : message;
}

#else

const char *wi_heif_library_fault(void) { return NULL; }

#endif
#endif
