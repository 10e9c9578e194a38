#pragma once
#include "GLibAndCairo.h"

/* Our declarations of what we use of librsvg 2.52 and later, and of gdk-pixbuf. */

#ifdef WI_CHECK_DECLARATIONS
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <librsvg/rsvg.h>
#else

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

/// librsvg's flags. Another flag lifts the limits of libxml2, and must never be used.
typedef enum { RSVG_HANDLE_FLAGS_NONE } RsvgHandleFlags;

typedef struct _GdkPixbufLoader GdkPixbufLoader;
typedef struct _GdkPixbufFormat GdkPixbufFormat;

#endif

#define WI_RSVG_FUNCTIONS(F, O) \
    WI_DRAWING_FUNCTIONS(F, O) \
    F(GCancellable *, g_cancellable_new, (void)) \
    F(void, g_cancellable_cancel, (GCancellable * cancellable)) \
    F(GInputStream *, g_memory_input_stream_new_from_data, (const void *data, gssize count, GDestroyNotify destroy)) \
    F(RsvgHandle *, rsvg_handle_new_with_flags, (RsvgHandleFlags flags)) \
    F(void, rsvg_handle_set_dpi, (RsvgHandle * handle, double dpi)) \
    F(gboolean, rsvg_handle_read_stream_sync, \
      (RsvgHandle * handle, GInputStream * stream, GCancellable * cancellable, GError * *error)) \
    F(void, rsvg_handle_get_intrinsic_dimensions, \
      (RsvgHandle * handle, gboolean * has_width, RsvgLength * width, gboolean * has_height, RsvgLength * height, \
       gboolean * has_view_box, RsvgRectangle * view_box)) \
    F(gboolean, rsvg_handle_get_intrinsic_size_in_pixels, (RsvgHandle * handle, double *width, double *height)) \
    F(gboolean, rsvg_handle_render_document, \
      (RsvgHandle * handle, cairo_t * canvas, const RsvgRectangle *viewport, GError **error)) \
    /* Since librsvg 2.59. */ \
    O(void, rsvg_handle_set_cancellable_for_rendering, (RsvgHandle * handle, GCancellable * cancellable)) \
    WI_BITMAP_FUNCTIONS(O)

/* The functions of gdk-pixbuf, and those that are used with them. They are missing if librsvg decodes bitmaps without gdk-pixbuf.
   */
#define WI_BITMAP_FUNCTIONS(O) \
    O(void, g_free, (gpointer memory)) \
    O(gpointer, g_value_get_object, (const GValue *value)) \
    O(gint, g_value_get_int, (const GValue *value)) \
    O(gpointer, g_type_class_ref, (GType type)) \
    O(guint, g_signal_lookup, (const char *name, GType type)) \
    O(gulong, g_signal_add_emission_hook, \
      (guint signal, GQuark detail, GSignalEmissionHook hook, gpointer context, GDestroyNotify destroy)) \
    O(GType, gdk_pixbuf_loader_get_type, (void)) \
    O(GdkPixbufFormat *, gdk_pixbuf_loader_get_format, (GdkPixbufLoader * loader)) \
    O(void, gdk_pixbuf_loader_set_size, (GdkPixbufLoader * loader, int width, int height)) \
    O(char *, gdk_pixbuf_format_get_name, (GdkPixbufFormat * format))

typedef struct {
    WI_RSVG_FUNCTIONS(WI_POINTER, WI_POINTER)
} wi_rsvg_functions;

/// Filled by `wi_svg_create`.
extern wi_rsvg_functions wi_rsvg;
