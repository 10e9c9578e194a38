#include "Internal.h"
#include "CShimGuard.h"
#include <stdlib.h>

wi_svg *wi_svg_create(void) {
    if (wi_svg_library_fault() != NULL) return NULL;
    wi_svg *svg = calloc(1, sizeof(wi_svg));
    if (svg != NULL) svg->cancellable = wi_rsvg.g_cancellable_new();
    return svg;
}

void wi_svg_cancel(wi_svg *svg) { wi_rsvg.g_cancellable_cancel(svg->cancellable); }

void wi_svg_destroy(wi_svg *svg) {
    if (svg->cancellable != NULL) wi_rsvg.g_object_unref(svg->cancellable);
    if (svg->is_broken) {
        svg->handle = NULL;
        /* A reference to the surface may have been kept. Its pixels are freed anyway. */
        if (svg->surface != NULL) wi_rsvg.cairo_surface_finish(svg->surface);
    }
    if (svg->surface != NULL) wi_rsvg.cairo_surface_destroy(svg->surface);
    if (svg->handle != NULL) wi_rsvg.g_object_unref(svg->handle);
    free(svg->inflated);
    free(svg);
}

const char *wi_svg_message(const wi_svg *svg) { return svg->message; }

int wi_svg_fail(wi_svg *svg, int code, GError *error) {
    wi_message_copy(svg->message, sizeof svg->message, error != NULL ? error->message : NULL);
    if (error != NULL) wi_rsvg.g_error_free(error);
    return code;
}

typedef struct {
    wi_svg *svg;
    const uint8_t *bytes;
    size_t count;
    wi_svg_size *size;
    int result;
} opening;

/* A length in CSS pixels; -1 for one that depends on something else. */
static double pixels(gboolean is_there, RsvgLength length) {
    if (!is_there) return -1;
    switch (length.unit) {
    case RSVG_UNIT_PX: return length.length;
    case RSVG_UNIT_IN: return length.length * 96;
    case RSVG_UNIT_CM: return length.length * 96 / 2.54;
    case RSVG_UNIT_MM: return length.length * 96 / 25.4;
    case RSVG_UNIT_PT: return length.length * 96 / 72;
    case RSVG_UNIT_PC: return length.length * 16;
    default: return -1;
    }
}

static void measure(RsvgHandle *handle, wi_svg_size *size) {
    gboolean has_width = 0, has_height = 0, has_view = 0;
    RsvgLength width = {0}, height = {0};
    RsvgRectangle view = {0};
    wi_rsvg.rsvg_handle_get_intrinsic_dimensions(handle, &has_width, &width, &has_height, &height, &has_view, &view);
    size->view_width = has_view ? view.width : -1;
    size->view_height = has_view ? view.height : -1;
    /* This function also knows lengths in units of the font. */
    if (wi_rsvg.rsvg_handle_get_intrinsic_size_in_pixels(handle, &size->width, &size->height)) return;
    size->width = pixels(has_width, width);
    size->height = pixels(has_height, height);
}

static void open_document(void *context) {
    opening *work = context;
    wi_svg *svg = work->svg;
    GError *error = NULL;
    svg->handle = wi_rsvg.rsvg_handle_new_with_flags(RSVG_HANDLE_FLAGS_NONE);
    wi_rsvg.rsvg_handle_set_dpi(svg->handle, 96);
    GInputStream *stream = wi_rsvg.g_memory_input_stream_new_from_data(work->bytes, (gssize)work->count, NULL);
    if (wi_rsvg.rsvg_handle_read_stream_sync(svg->handle, stream, NULL, &error)) {
        measure(svg->handle, work->size);
        work->result = WI_SVG_OK;
    } else {
        work->result = wi_svg_fail(svg, WI_SVG_CORRUPT, error);
    }
    wi_rsvg.g_object_unref(stream);
}

/* Notes that librsvg has panicked: its objects are in an unknown state. */
static int give_up(wi_svg *svg) {
    svg->is_broken = 1;
    return WI_SVG_BROKEN;
}

int wi_svg_open(wi_svg *svg, const uint8_t *bytes, size_t count, wi_svg_size *size) {
    opening work = {svg, bytes, count, size, WI_SVG_NO_MEMORY};
    if (svg->handle != NULL || count > PTRDIFF_MAX) return WI_SVG_CORRUPT;
    return wi_guard(open_document, &work) == 0 ? work.result : give_up(svg);
}

typedef struct {
    wi_svg *svg;
    const wi_svg_drawing *drawing;
    int result;
} drawing_work;

static void draw_document(void *context) {
    drawing_work *work = context;
    wi_svg *svg = work->svg;
    const wi_svg_drawing *drawing = work->drawing;
    GError *error = NULL;
    RsvgRectangle viewport = {0, 0, drawing->width, drawing->height};
    cairo_t *canvas = wi_rsvg.cairo_create(svg->surface);
    wi_rsvg.cairo_translate(canvas, drawing->x_offset, drawing->y_offset);
    wi_rsvg.cairo_scale(canvas, drawing->x_scale, drawing->y_scale);
    wi_svg_bitmaps_begin(drawing->bitmap_pixels);
    gboolean is_drawn = wi_rsvg.rsvg_handle_render_document(svg->handle, canvas, &viewport, &error);
    if (!is_drawn) {
        work->result = wi_svg_fail(svg, WI_SVG_LIMIT, error);
    } else {
        work->result = wi_rsvg.cairo_status(canvas) == CAIRO_STATUS_SUCCESS ? WI_SVG_OK : WI_SVG_NO_MEMORY;
    }
    wi_rsvg.cairo_destroy(canvas);
}

int wi_svg_draw(wi_svg *svg, const wi_svg_drawing *drawing, const uint8_t **pixels, size_t *bytes_per_row) {
    drawing_work work = {svg, drawing, WI_SVG_NO_MEMORY};
    if (svg->handle == NULL || svg->surface != NULL) return WI_SVG_CORRUPT;
    svg->surface = wi_rsvg.cairo_image_surface_create(
        CAIRO_FORMAT_ARGB32, (int)drawing->canvas_width, (int)drawing->canvas_height);
    if (wi_rsvg.cairo_surface_status(svg->surface) != CAIRO_STATUS_SUCCESS) return WI_SVG_NO_MEMORY;
    if (wi_rsvg.rsvg_handle_set_cancellable_for_rendering != NULL) {
        wi_rsvg.rsvg_handle_set_cancellable_for_rendering(svg->handle, svg->cancellable);
    }
    int is_thrown = wi_guard(draw_document, &work) != 0;
    wi_svg_bitmaps_end();
    if (is_thrown) return give_up(svg);
    if (work.result != WI_SVG_OK) return work.result;
    wi_rsvg.cairo_surface_flush(svg->surface);
    *pixels = wi_rsvg.cairo_image_surface_get_data(svg->surface);
    *bytes_per_row = (size_t)wi_rsvg.cairo_image_surface_get_stride(svg->surface);
    return *pixels != NULL ? WI_SVG_OK : WI_SVG_NO_MEMORY;
}
