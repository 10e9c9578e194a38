#pragma once
#include "GLibAndCairo.h"

/* Our declarations of what we use of poppler. */

#ifdef WI_CHECK_DECLARATIONS
#include <poppler.h>
#else

typedef struct _PopplerDocument PopplerDocument;
typedef struct _PopplerPage PopplerPage;

/// poppler's error codes, of which we use one.
enum { POPPLER_ERROR_ENCRYPTED = 1 };

#endif

#define WI_POPPLER_FUNCTIONS(F, O) \
    WI_DRAWING_FUNCTIONS(F, O) \
    F(void, cairo_set_source_rgb, (cairo_t * canvas, double red, double green, double blue)) \
    F(void, cairo_paint, (cairo_t * canvas)) \
    F(GBytes *, g_bytes_new_static, (gconstpointer data, gsize count)) \
    F(void, g_bytes_unref, (GBytes * bytes)) \
    F(GQuark, poppler_error_quark, (void)) \
    F(PopplerDocument *, poppler_document_new_from_bytes, (GBytes * bytes, const char *password, GError **error)) \
    F(int, poppler_document_get_n_pages, (PopplerDocument * document)) \
    F(PopplerPage *, poppler_document_get_page, (PopplerDocument * document, int index)) \
    F(void, poppler_page_get_size, (PopplerPage * page, double *width, double *height)) \
    F(void, poppler_page_render, (PopplerPage * page, cairo_t * canvas))

typedef struct {
    WI_POPPLER_FUNCTIONS(WI_POINTER, WI_POINTER)
} wi_poppler_functions;

/// Filled by `wi_pdf_create`.
extern wi_poppler_functions wi_poppler;
