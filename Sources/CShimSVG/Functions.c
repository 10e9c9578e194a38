#include "Functions.h"
#include "CShimLibrary.h"
#include "CShimSVG.h"
#include <pthread.h>

wi_rsvg_functions wi_rsvg;

#define WI_TABLE wi_rsvg
static const wi_function functions[] = {WI_RSVG_FUNCTIONS(WI_LOOKUP, WI_OPTIONAL_LOOKUP)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char message[256];
static int result;

static void open_library(void) {
    static const char *const names[] = {WI_LIBRARY("rsvg-2", "2"), NULL};
    result = wi_library_open(names, functions, sizeof functions / sizeof *functions, message, sizeof message);
}

const char *wi_svg_library_fault(void) {
    pthread_once(&once, open_library);
    return result == 0 ? NULL : message;
}

#ifdef WI_CHECK_DECLARATIONS
/* A function that librsvg has only since 2.59 may be missing from the headers, too. */
#if !LIBRSVG_CHECK_VERSION(2, 59, 0)
void rsvg_handle_set_cancellable_for_rendering(RsvgHandle *handle, GCancellable *cancellable);
#endif
WI_RSVG_FUNCTIONS(WI_SAME_TYPE, WI_SAME_TYPE)
#endif
