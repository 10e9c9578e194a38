#include "Functions.h"
#include "CShimLibrary.h"
#include "CShimPDF.h"
#include <pthread.h>

wi_poppler_functions wi_poppler;

#define WI_TABLE wi_poppler
static const wi_function functions[] = {WI_POPPLER_FUNCTIONS(WI_LOOKUP, WI_OPTIONAL_LOOKUP)};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char message[256];
static int result;

static void open_library(void) {
    static const char *const names[] = {WI_LIBRARY("poppler-glib", "8"), NULL};
    result = wi_library_open(names, functions, sizeof functions / sizeof *functions, message, sizeof message);
}

const char *wi_pdf_library_fault(void) {
    pthread_once(&once, open_library);
    return result == 0 ? NULL : message;
}

#ifdef WI_CHECK_DECLARATIONS
WI_POPPLER_FUNCTIONS(WI_SAME_TYPE, WI_SAME_TYPE)
_Static_assert(POPPLER_ERROR_ENCRYPTED == 1, "another code");
#endif
