#include "CShimGTK.h"
#if __has_include(<gtk/gtk.h>)
#include <gtk/gtk.h>

/* A toggle reference calls back when it becomes the only reference to an object, and when it is no longer the only one. */
typedef struct {
    void *context;
    void (*hold)(void *context);
    void (*release)(void *context);
} tie;

static const char tie_key[] = "wi-tie";

static void toggle(gpointer data, GObject *object, gboolean is_last) {
    (void)object;
    tie *tie = data;
    if (is_last) {
        tie->release(tie->context);
    } else {
        tie->hold(tie->context);
    }
}

void wi_tie(void *object, void *context, void (*hold)(void *), void (*release)(void *)) {
    tie *new = g_new(tie, 1);
    *new = (tie){context, hold, release};
    g_object_set_data_full(object, tie_key, new, g_free);
    if (g_object_is_floating(object)) g_object_ref_sink(object);
    hold(context);
    g_object_add_toggle_ref(object, toggle, new);
    g_object_unref(object);
}

void wi_untie(void *object) { g_object_remove_toggle_ref(object, toggle, g_object_get_data(object, tie_key)); }

void wi_reference(void *object) { g_object_ref_sink(object); }

void wi_unreference(void *object) { g_object_unref(object); }
#endif
