/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait AVIF, for which
   libavif need not be installed. */
#if __has_include(<avif/avif.h>)

#include "CShimAVIF.h"
#include "Trampolines.h"
#include "../CSysAVIF/Functions.h"
#include <avif/avif.h>
#include <pthread.h>

#ifdef __linux__

/* The version in the name of a library's file rises when its functions change. It is not known for older versions than 0.11: for
   them the file without a version is opened as well, which exists only where the headers are installed. */
#if AVIF_VERSION_MAJOR == 0
#define WI_FILE_VERSION "15"
#else
#define WI_FILE_VERSION "16"
#endif
#if AVIF_VERSION_MAJOR == 0 && AVIF_VERSION_MINOR < 11
#define WI_OTHER_FILES "libavif.so",
#else
#define WI_OTHER_FILES
#endif

WI_AVIF_FUNCTIONS(WI_TRAMPOLINE)
static const wi_function functions[] = {WI_AVIF_FUNCTIONS(WI_SLOT)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char message[256];
static int result;

static void open_library(void) {
    static const char *const names[] = {WI_LIBRARY("avif", WI_FILE_VERSION), WI_OTHER_FILES NULL};
    result = wi_library_open(names, functions, sizeof functions / sizeof *functions, message, sizeof message);
}

const char *wi_avif_library_fault(void) {
    pthread_once(&once, open_library);
    return result == 0 ? NULL : message;
}

#else

const char *wi_avif_library_fault(void) { return NULL; }

#endif
#endif
