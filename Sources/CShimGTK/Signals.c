#include "CShimGTK.h"
#if __has_include(<gtk/gtk.h>)
#include <gtk/gtk.h>

/* A closure's notifier has a second argument; contexts are released by functions of one. */
typedef struct {
    void *context;
    void (*release)(void *context);
} ending;

static void end(gpointer data, GClosure *closure) {
    (void)closure;
    ending *ending = data;
    ending->release(ending->context);
    g_free(ending);
}

static gulong join(void *object, const char *signal, GCallback handler, void *context, void (*release)(void *)) {
    guint id;
    GQuark detail;
    /* GLib would print a warning and drop the context. */
    if (!g_signal_parse_name(signal, G_OBJECT_TYPE(object), &id, &detail, TRUE)) return 0;
    GClosure *closure = g_cclosure_new(handler, context, NULL);
    ending *new = g_new(ending, 1);
    new->context = context;
    new->release = release;
    g_closure_add_finalize_notifier(closure, new, end);
    return g_signal_connect_closure_by_id(object, id, detail, closure, FALSE);
}

unsigned long wi_connect_plain(
    void *object, const char *signal, wi_plain_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_object(
    void *object, const char *signal, wi_object_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_position(
    void *object, const char *signal, wi_position_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_question(
    void *object, const char *signal, wi_question_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_press(
    void *object, const char *signal, wi_press_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_key(
    void *object, const char *signal, wi_key_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_scroll(
    void *object, const char *signal, wi_scroll_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, G_CALLBACK(handler), context, release);
}
#endif
