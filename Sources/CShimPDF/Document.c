#include "CShimLibrary.h"
#include "CShimGuard.h"
#include "CShimPDF.h"
#include "Functions.h"
#include <stdlib.h>

struct wi_pdf {
    PopplerDocument *document;
    PopplerPage *page;
    cairo_surface_t *surface;
    /* Whether poppler has thrown an exception: its objects must then be neither used nor freed. */
    int is_broken;
    char message[256];
};

wi_pdf *wi_pdf_create(void) { return wi_pdf_library_fault() == NULL ? calloc(1, sizeof(wi_pdf)) : NULL; }

void wi_pdf_destroy(wi_pdf *pdf) {
    if (pdf->is_broken) {
        free(pdf);
        return;
    }
    if (pdf->surface != NULL) wi_poppler.cairo_surface_destroy(pdf->surface);
    if (pdf->page != NULL) wi_poppler.g_object_unref(pdf->page);
    if (pdf->document != NULL) wi_poppler.g_object_unref(pdf->document);
    free(pdf);
}

const char *wi_pdf_message(const wi_pdf *pdf) { return pdf->message; }

typedef struct {
    wi_pdf *pdf;
    const uint8_t *bytes;
    size_t count;
    double width, height;
    uint32_t page_count;
    const wi_pdf_drawing *drawing;
    int result;
} work;

static int fail(wi_pdf *pdf, const char *message, int code) {
    wi_message_copy(pdf->message, sizeof pdf->message, message);
    return code;
}

static int open_page(work *work) {
    wi_pdf *pdf = work->pdf;
    GError *error = NULL;
    GBytes *bytes = wi_poppler.g_bytes_new_static(work->bytes, work->count);
    pdf->document = wi_poppler.poppler_document_new_from_bytes(bytes, NULL, &error);
    wi_poppler.g_bytes_unref(bytes);
    if (pdf->document == NULL) {
        int is_encrypted =
            error->domain == wi_poppler.poppler_error_quark() && error->code == POPPLER_ERROR_ENCRYPTED;
        int code = fail(pdf, error->message, is_encrypted ? WI_PDF_ENCRYPTED : WI_PDF_CORRUPT);
        wi_poppler.g_error_free(error);
        return code;
    }
    int pages = wi_poppler.poppler_document_get_n_pages(pdf->document);
    /* poppler would log a request for a page that does not exist. */
    if (pages < 1) return fail(pdf, "there are no pages", WI_PDF_CORRUPT);
    work->page_count = (uint32_t)pages;
    pdf->page = wi_poppler.poppler_document_get_page(pdf->document, 0);
    if (pdf->page == NULL) return fail(pdf, "the first page is damaged", WI_PDF_CORRUPT);
    wi_poppler.poppler_page_get_size(pdf->page, &work->width, &work->height);
    return WI_PDF_OK;
}

static void run_open(void *context) { ((work *)context)->result = open_page(context); }

static int give_up(wi_pdf *pdf) {
    pdf->is_broken = 1;
    return fail(pdf, "it gave up", WI_PDF_BROKEN);
}

int wi_pdf_open(
    wi_pdf *pdf, const uint8_t *bytes, size_t count, double *width, double *height, uint32_t *page_count) {
    work work = {.pdf = pdf, .bytes = bytes, .count = count, .result = WI_PDF_NO_MEMORY};
    if (pdf->document != NULL) return WI_PDF_CORRUPT;
    if (wi_guard(run_open, &work) != 0) return give_up(pdf);
    *width = work.width;
    *height = work.height;
    *page_count = work.page_count;
    return work.result;
}

static void run_draw(void *context) {
    work *work = context;
    cairo_t *canvas = wi_poppler.cairo_create(work->pdf->surface);
    wi_poppler.cairo_set_source_rgb(canvas, 1, 1, 1);
    wi_poppler.cairo_paint(canvas);
    wi_poppler.cairo_translate(canvas, work->drawing->x_offset, work->drawing->y_offset);
    wi_poppler.cairo_scale(canvas, work->drawing->x_scale, work->drawing->y_scale);
    wi_poppler.poppler_page_render(work->pdf->page, canvas);
    /* Errors within a page make cairo fail, too. The canvas then has what was drawn before, as in any viewer. */
    work->result = wi_poppler.cairo_status(canvas) == CAIRO_STATUS_NO_MEMORY ? WI_PDF_NO_MEMORY : WI_PDF_OK;
    wi_poppler.cairo_destroy(canvas);
}

int wi_pdf_draw(wi_pdf *pdf, const wi_pdf_drawing *drawing, const uint8_t **pixels, size_t *bytes_per_row) {
    work work = {.pdf = pdf, .drawing = drawing, .result = WI_PDF_NO_MEMORY};
    if (pdf->page == NULL || pdf->surface != NULL) return WI_PDF_CORRUPT;
    pdf->surface = wi_poppler.cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, (int)drawing->canvas_width, (int)drawing->canvas_height);
    if (wi_poppler.cairo_surface_status(pdf->surface) != CAIRO_STATUS_SUCCESS) return WI_PDF_NO_MEMORY;
    if (wi_guard(run_draw, &work) != 0) return give_up(pdf);
    if (work.result != WI_PDF_OK) return work.result;
    wi_poppler.cairo_surface_flush(pdf->surface);
    *pixels = wi_poppler.cairo_image_surface_get_data(pdf->surface);
    *bytes_per_row = (size_t)wi_poppler.cairo_image_surface_get_stride(pdf->surface);
    return *pixels != NULL ? WI_PDF_OK : WI_PDF_NO_MEMORY;
}
