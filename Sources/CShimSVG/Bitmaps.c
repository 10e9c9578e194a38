#include "Internal.h"
#include <string.h>

/* librsvg hands `data:` images to gdk-pixbuf, which decodes any size that fits into memory. The only place to step in
   is the signal that tells a picture's size before its pixels: a size of 0 makes the loaders give up. The hook sees
   every loader of the process, so it acts only on threads where we draw. */

static __thread int is_drawing;
static __thread uint64_t pixels_left;

static gboolean limit(GSignalInvocationHint *hint, guint count, const GValue *values, gpointer context) {
    (void)hint;
    (void)context;
    if (!is_drawing || count < 3) return TRUE;
    GdkPixbufLoader *loader = g_value_get_object(values);
    int width = g_value_get_int(values + 1), height = g_value_get_int(values + 2);
    GdkPixbufFormat *format = gdk_pixbuf_loader_get_format(loader);
    char *name = format != NULL ? gdk_pixbuf_format_get_name(format) : NULL;
    /* An SVG within an SVG would be drawn by librsvg without what we check before. */
    int is_svg = name != NULL && strcmp(name, "svg") == 0;
    g_free(name);
    uint64_t pixels = width > 0 && height > 0 ? (uint64_t)width * (uint64_t)height : 0;
    if (is_svg || pixels > pixels_left) {
        gdk_pixbuf_loader_set_size(loader, 0, 0);
    } else {
        pixels_left -= pixels;
    }
    return TRUE;
}

static void install(void) {
    g_type_class_ref(gdk_pixbuf_loader_get_type());
    guint signal = g_signal_lookup("size-prepared", gdk_pixbuf_loader_get_type());
    g_signal_add_emission_hook(signal, 0, limit, NULL, NULL);
}

void wi_svg_bitmaps_begin(uint64_t room) {
    static gsize is_installed;
    if (g_once_init_enter(&is_installed)) {
        install();
        g_once_init_leave(&is_installed, 1);
    }
    pixels_left = room;
    is_drawing = 1;
}

void wi_svg_bitmaps_end(void) { is_drawing = 0; }
