#pragma once
#include <stddef.h>
#include <stdint.h>

/* poppler-glib, which speaks GObject and GError: here with an opaque handle and integer codes. */

enum { WI_PDF_OK, WI_PDF_NO_MEMORY, WI_PDF_CORRUPT, WI_PDF_ENCRYPTED, WI_PDF_BROKEN };

typedef struct wi_pdf wi_pdf;

/// A page and how it is mapped onto a canvas.
typedef struct {
    double x_scale, y_scale, x_offset, y_offset;
    uint32_t canvas_width, canvas_height;
} wi_pdf_drawing;

/// Why poppler cannot be opened; NULL when it is open, which it is after the first call. Valid for ever.
const char *_Nullable wi_pdf_library_fault(void);

/// NULL when there is no memory, or no poppler.
wi_pdf *_Nullable wi_pdf_create(void);
void wi_pdf_destroy(wi_pdf *_Nonnull pdf);

/// What went wrong last; WI_PDF_BROKEN means that poppler gave up, and the handle can only be destroyed.
/// The message is valid until the next call.
const char *_Nonnull wi_pdf_message(const wi_pdf *_Nonnull pdf);

/// Unpacks a stream of the filter FlateDecode, or as much of it as there is and as goes into `most` bytes.
size_t wi_pdf_inflate(
    const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull output, size_t most);

/// Reads a document, whose bytes must stay, and its first page's size in points, turned as the page says.
int wi_pdf_open(
    wi_pdf *_Nonnull pdf, const uint8_t *_Nonnull bytes, size_t count, double *_Nonnull width, double *_Nonnull height,
    uint32_t *_Nonnull page_count);

/// Draws the first page onto white paper. In `pixels` red, green and blue are the lower three bytes of a word, from the
/// top; they belong to `pdf`.
int wi_pdf_draw(
    wi_pdf *_Nonnull pdf, const wi_pdf_drawing *_Nonnull drawing, const uint8_t *_Nullable *_Nonnull pixels,
    size_t *_Nonnull bytes_per_row);
