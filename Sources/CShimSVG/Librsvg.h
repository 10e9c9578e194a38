#pragma once
#include <cairo.h>
#include <gio/gio.h>

/* What we use of librsvg 2.52 and later and of gdk-pixbuf, as their headers have it. The headers are found with their
   pkg-config files only, and those hold -pthread, of which SwiftPM warns at each build. */

typedef struct _RsvgHandle RsvgHandle;

typedef enum {
    RSVG_UNIT_PERCENT,
    RSVG_UNIT_PX,
    RSVG_UNIT_EM,
    RSVG_UNIT_EX,
    RSVG_UNIT_IN,
    RSVG_UNIT_CM,
    RSVG_UNIT_MM,
    RSVG_UNIT_PT,
    RSVG_UNIT_PC
} RsvgUnit;

typedef struct {
    double length;
    RsvgUnit unit;
} RsvgLength;

typedef struct {
    double x, y, width, height;
} RsvgRectangle;

/* Flags. Another one lifts the limits of libxml2, and is never to be used. */
enum { RSVG_HANDLE_FLAGS_NONE = 0 };

RsvgHandle *rsvg_handle_new_with_flags(unsigned int flags);
void rsvg_handle_set_dpi(RsvgHandle *handle, double dpi);
gboolean rsvg_handle_read_stream_sync(
    RsvgHandle *handle, GInputStream *stream, GCancellable *cancellable, GError **error);
void rsvg_handle_get_intrinsic_dimensions(
    RsvgHandle *handle, gboolean *has_width, RsvgLength *width, gboolean *has_height, RsvgLength *height,
    gboolean *has_view_box, RsvgRectangle *view_box);
gboolean rsvg_handle_get_intrinsic_size_in_pixels(RsvgHandle *handle, double *width, double *height);
gboolean rsvg_handle_render_document(
    RsvgHandle *handle, cairo_t *canvas, const RsvgRectangle *viewport, GError **error);
/// Since librsvg 2.59; NULL in older ones.
__attribute__((weak)) void rsvg_handle_set_cancellable_for_rendering(RsvgHandle *handle, GCancellable *cancellable);

typedef struct _GdkPixbufLoader GdkPixbufLoader;
typedef struct _GdkPixbufFormat GdkPixbufFormat;

GType gdk_pixbuf_loader_get_type(void);
GdkPixbufFormat *gdk_pixbuf_loader_get_format(GdkPixbufLoader *loader);
void gdk_pixbuf_loader_set_size(GdkPixbufLoader *loader, int width, int height);
char *gdk_pixbuf_format_get_name(GdkPixbufFormat *format);
