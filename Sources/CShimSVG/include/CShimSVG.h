#pragma once
#include <stddef.h>
#include <stdint.h>

/* librsvg, whose interface uses GObject, signals and GError, behind an opaque handle and integer codes. Nothing outside of the
   document is ever loaded: it has no base URL, so that librsvg allows only `data:`. */

enum { WI_SVG_OK, WI_SVG_NO_MEMORY, WI_SVG_CORRUPT, WI_SVG_TRUNCATED, WI_SVG_LIMIT, WI_SVG_BROKEN };

typedef struct wi_svg wi_svg;

/// The sizes that the root element states, in CSS pixels at 96 dpi. A side that it does not state, or only relative to something
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
    /// How many pixels all embedded bitmaps together may have. Those beyond it, and embedded SVGs, are left out.
    uint64_t bitmap_pixels;
} wi_svg_drawing;

/// Opens librsvg at the first call. Returns NULL if it is open, else the reason, a string that stays valid.
const char *_Nullable wi_svg_library_fault(void);

/// Returns NULL if there is no memory, or no librsvg.
wi_svg *_Nullable wi_svg_create(void);
void wi_svg_destroy(wi_svg *_Nonnull svg);

/// Makes a drawing end soon. Any thread may call it. librsvg before 2.59 continues to draw.
void wi_svg_cancel(wi_svg *_Nonnull svg);

/// The message about the last failure; valid until the next call.
const char *_Nonnull wi_svg_message(const wi_svg *_Nonnull svg);

/// Unpacks gzip data; the result belongs to `svg`. Returns WI_SVG_LIMIT if it is longer than `most`.
int wi_svg_inflate(
    wi_svg *_Nonnull svg, const uint8_t *_Nullable bytes, size_t count, size_t most,
    const uint8_t *_Nullable *_Nonnull output, size_t *_Nonnull output_count);

/// Reads a document, which may be released afterwards. librsvg recurses for each level of a document, so the thread's stack must
/// be large enough. From here on WI_SVG_BROKEN means that librsvg panicked: the handle can then only be destroyed.
int wi_svg_open(wi_svg *_Nonnull svg, const uint8_t *_Nonnull bytes, size_t count, wi_svg_size *_Nonnull size);

/// Draws the document on a transparent canvas. `pixels` are premultiplied, with alpha in the highest byte of a word, then red,
/// green and blue. They belong to `svg`.
int wi_svg_draw(
    wi_svg *_Nonnull svg, const wi_svg_drawing *_Nonnull drawing, const uint8_t *_Nullable *_Nonnull pixels,
    size_t *_Nonnull bytes_per_row);
