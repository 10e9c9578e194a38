/* SwiftPM compiles this folder in every build of the package itself, also of one without the trait JXL, for which
   libjxl need not be installed. */
#if __has_include(<jxl/version.h>)

#include "CShimJXL.h"
#include "Trampolines.h"
#include "../CSysJXL/Functions.h"
#include <jxl/version.h>
#include <pthread.h>

#ifdef __linux__

/* The version in the name of a library's file rises when its functions change. */
#define WI_TEXT(number) #number
#define WI_NUMBER(number) WI_TEXT(number)
#if JPEGXL_MAJOR_VERSION == 0
#define WI_FILE_VERSION WI_NUMBER(JPEGXL_MAJOR_VERSION) "." WI_NUMBER(JPEGXL_MINOR_VERSION)
#else
#define WI_FILE_VERSION WI_NUMBER(JPEGXL_MAJOR_VERSION)
#endif

WI_JXL_FUNCTIONS(WI_TRAMPOLINE)
static const wi_function functions[] = {WI_JXL_FUNCTIONS(WI_SLOT)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char message[256];
static int result;

static void open_library(void) {
    static const char *const names[] = {WI_LIBRARY("jxl", WI_FILE_VERSION), NULL};
    result = wi_library_open(names, functions, sizeof functions / sizeof *functions, message, sizeof message);
}

const char *wi_jxl_library_fault(void) {
    pthread_once(&once, open_library);
    return result == 0 ? NULL : message;
}

#else

const char *wi_jxl_library_fault(void) { return NULL; }

#endif
#endif
