#pragma once
#include <stddef.h>
#include <stdint.h>

/* poppler-glib, whose interface uses GObject and GError, behind an opaque handle and integer codes. */

enum { WI_PDF_OK, WI_PDF_NO_MEMORY, WI_PDF_CORRUPT, WI_PDF_ENCRYPTED, WI_PDF_BROKEN };

typedef struct wi_pdf wi_pdf;

/// A page and how it is mapped onto a canvas.
typedef struct {
    double x_scale, y_scale, x_offset, y_offset;
    uint32_t canvas_width, canvas_height;
} wi_pdf_drawing;

/// Opens poppler at the first call. Returns NULL if it is open, else the reason, a string that stays valid.
const char *_Nullable wi_pdf_library_fault(void);

/// Returns NULL if there is no memory, or no poppler.
wi_pdf *_Nullable wi_pdf_create(void);
void wi_pdf_destroy(wi_pdf *_Nonnull pdf);

/// The message about the last failure; valid until the next call. WI_PDF_BROKEN means that poppler threw an exception: the handle
/// can then only be destroyed.
const char *_Nonnull wi_pdf_message(const wi_pdf *_Nonnull pdf);

/// Inflates a stream of the filter FlateDecode, as far as it is valid and fits into `most` bytes. Returns how many bytes it wrote.
size_t wi_pdf_inflate(
    const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull output, size_t most);

/// Reads a document, whose bytes must stay valid, and the size of its first page in points, rotated as the page says.
int wi_pdf_open(
    wi_pdf *_Nonnull pdf, const uint8_t *_Nonnull bytes, size_t count, double *_Nonnull width, double *_Nonnull height,
    uint32_t *_Nonnull page_count);

/// Draws the first page on white paper. Each word of `pixels` has red, green and blue in its lower three bytes, red in the highest
/// of them. The memory belongs to `pdf`.
int wi_pdf_draw(
    wi_pdf *_Nonnull pdf, const wi_pdf_drawing *_Nonnull drawing, const uint8_t *_Nullable *_Nonnull pixels,
    size_t *_Nonnull bytes_per_row);
