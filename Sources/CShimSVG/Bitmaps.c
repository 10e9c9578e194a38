#include "Internal.h"
#include <pthread.h>
#include <string.h>

/* Up to 2.56, librsvg passes `data:` images to gdk-pixbuf, which decodes any size that fits into memory. SVGBitmap has checked the
   images before. In case gdk-pixbuf finds another picture in them, this hook listens to its signal that reports a size before the
   pixels: setting a size of 0 makes a loader fail. The hook sees every loader of the process, so it acts only on threads on which
   we draw. */

static __thread int is_drawing;
static __thread uint64_t pixels_left;

static gboolean limit(GSignalInvocationHint *hint, guint count, const GValue *values, gpointer context) {
    (void)hint;
    (void)context;
    if (!is_drawing || count < 3) return 1;
    GdkPixbufLoader *loader = wi_rsvg.g_value_get_object(values);
    int width = wi_rsvg.g_value_get_int(values + 1), height = wi_rsvg.g_value_get_int(values + 2);
    GdkPixbufFormat *format = wi_rsvg.gdk_pixbuf_loader_get_format(loader);
    char *name = format != NULL ? wi_rsvg.gdk_pixbuf_format_get_name(format) : NULL;
    /* librsvg would draw an SVG within an SVG without our checks. */
    int is_svg = name != NULL && strcmp(name, "svg") == 0;
    wi_rsvg.g_free(name);
    uint64_t pixels = width > 0 && height > 0 ? (uint64_t)width * (uint64_t)height : 0;
    if (is_svg || pixels > pixels_left) {
        wi_rsvg.gdk_pixbuf_loader_set_size(loader, 0, 0);
    } else {
        pixels_left -= pixels;
    }
    return 1;
}

#define WI_IS_THERE(result, name, parameters) &&wi_rsvg.name != NULL

static void install(void) {
    if (!(1 WI_BITMAP_FUNCTIONS(WI_IS_THERE))) return;
    wi_rsvg.g_type_class_ref(wi_rsvg.gdk_pixbuf_loader_get_type());
    guint signal = wi_rsvg.g_signal_lookup("size-prepared", wi_rsvg.gdk_pixbuf_loader_get_type());
    wi_rsvg.g_signal_add_emission_hook(signal, 0, limit, NULL, NULL);
}

void wi_svg_bitmaps_begin(uint64_t room) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    pixels_left = room;
    is_drawing = 1;
}

void wi_svg_bitmaps_end(void) { is_drawing = 0; }
