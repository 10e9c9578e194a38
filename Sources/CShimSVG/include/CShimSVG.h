#pragma once
#include <stddef.h>
#include <stdint.h>

/* librsvg, which speaks GObject, signals and GError: here with an opaque handle and integer codes. Nothing outside of
   the document is ever loaded: it has no base address, so that librsvg allows `data:` only. */

enum { WI_SVG_OK, WI_SVG_NO_MEMORY, WI_SVG_CORRUPT, WI_SVG_TRUNCATED, WI_SVG_LIMIT, WI_SVG_BROKEN };

typedef struct wi_svg wi_svg;

/// What the root element says, in CSS pixels at 96 dpi; a side that it does not say, or only as a part of something
/// else, is -1.
typedef struct {
    double width, height;
    double view_width, view_height;
} wi_svg_size;

/// Where a document is drawn: its natural size, mapped by a scale and an offset onto a canvas.
typedef struct {
    double width, height;
    double x_scale, y_scale, x_offset, y_offset;
    uint32_t canvas_width, canvas_height;
    /// How many pixels all embedded bitmaps together may have; those that are over, and embedded SVGs, are left out.
    uint64_t bitmap_pixels;
} wi_svg_drawing;

/// Why librsvg cannot be opened; NULL when it is open, which it is after the first call. Valid for ever.
const char *_Nullable wi_svg_library_fault(void);

/// NULL when there is no memory, or no librsvg.
wi_svg *_Nullable wi_svg_create(void);
void wi_svg_destroy(wi_svg *_Nonnull svg);

/// Ends a drawing soon, from any thread; librsvg before 2.59 draws on.
void wi_svg_cancel(wi_svg *_Nonnull svg);

/// What went wrong last; valid until the next call.
const char *_Nonnull wi_svg_message(const wi_svg *_Nonnull svg);

/// Unpacks gzip data; the result belongs to `svg`. WI_SVG_LIMIT when it is longer than `most`.
int wi_svg_inflate(
    wi_svg *_Nonnull svg, const uint8_t *_Nullable bytes, size_t count, size_t most,
    const uint8_t *_Nullable *_Nonnull output, size_t *_Nonnull output_count);

/// Reads a document, which may go away afterwards. librsvg calls itself once for each level of a document: the thread's
/// stack must be deep enough.
/// WI_SVG_BROKEN from here on means that librsvg gave up; the handle can only be destroyed.
int wi_svg_open(wi_svg *_Nonnull svg, const uint8_t *_Nonnull bytes, size_t count, wi_svg_size *_Nonnull size);

/// Draws it onto a transparent canvas. `pixels` are premultiplied, alpha in the topmost byte of a word, then red, green
/// and blue; they belong to `svg`.
int wi_svg_draw(
    wi_svg *_Nonnull svg, const wi_svg_drawing *_Nonnull drawing, const uint8_t *_Nullable *_Nonnull pixels,
    size_t *_Nonnull bytes_per_row);
