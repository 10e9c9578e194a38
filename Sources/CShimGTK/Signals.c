#include "CShimGTK.h"
#if __has_include(<gtk/gtk.h>)
#include <gtk/gtk.h>
#include <string.h>

/* A closure's notifier takes two arguments, but the functions that release contexts take one. */
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

/* The arguments of a handler, a letter each, and whether it returns something. With another signal the handler would read
 * arguments that do not exist. */
typedef struct {
    /* NULL for any arguments. */
    const char *arguments;
    gboolean has_answer;
} kind;

static gboolean is_of_type(GType type, char letter) {
    switch (G_TYPE_FUNDAMENTAL(type & ~G_SIGNAL_TYPE_STATIC_SCOPE)) {
    case G_TYPE_OBJECT:
    case G_TYPE_INTERFACE:
    case G_TYPE_PARAM:
    case G_TYPE_BOXED:
    case G_TYPE_POINTER: return letter == 'p';
    case G_TYPE_INT: return letter == 'i';
    case G_TYPE_UINT:
    case G_TYPE_FLAGS: return letter == 'u';
    case G_TYPE_DOUBLE: return letter == 'd';
    default: return FALSE;
    }
}

static gboolean takes(kind kind, guint signal) {
    GSignalQuery query;
    g_signal_query(signal, &query);
    GType answer = query.return_type & ~G_SIGNAL_TYPE_STATIC_SCOPE;
    /* If the signal has no return type, GTK ignores what the handler returns. */
    if (answer != G_TYPE_NONE && !(kind.has_answer && answer == G_TYPE_BOOLEAN)) return FALSE;
    if (kind.arguments == NULL) return TRUE;
    if (query.n_params != strlen(kind.arguments)) return FALSE;
    for (guint i = 0; i < query.n_params; i++) {
        if (!is_of_type(query.param_types[i], kind.arguments[i])) return FALSE;
    }
    return TRUE;
}

static gulong join(
    void *object, const char *signal, kind kind, GCallback handler, void *context, void (*release)(void *)) {
    guint id;
    GQuark detail;
    /* GLib would print a warning for an unknown signal and leak the context. */
    if (!g_signal_parse_name(signal, G_OBJECT_TYPE(object), &id, &detail, TRUE)) return 0;
    if (!takes(kind, id)) return 0;
    /* A plain handler gets the context as its first argument, before the arguments of the signal. */
    gboolean is_plain = kind.arguments == NULL;
    GClosure *closure = is_plain ? g_cclosure_new_swap(handler, context, NULL) : g_cclosure_new(handler, context, NULL);
    ending *new = g_new(ending, 1);
    new->context = context;
    new->release = release;
    g_closure_add_finalize_notifier(closure, new, end);
    return g_signal_connect_closure_by_id(object, id, detail, closure, FALSE);
}

unsigned long wi_connect_plain(
    void *object, const char *signal, wi_plain_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, (kind){NULL, FALSE}, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_object(
    void *object, const char *signal, wi_object_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, (kind){"p", FALSE}, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_position(
    void *object, const char *signal, wi_position_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, (kind){"u", FALSE}, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_question(
    void *object, const char *signal, wi_question_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, (kind){"", TRUE}, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_press(
    void *object, const char *signal, wi_press_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, (kind){"idd", FALSE}, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_key(
    void *object, const char *signal, wi_key_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, (kind){"uuu", TRUE}, G_CALLBACK(handler), context, release);
}

unsigned long wi_connect_scroll(
    void *object, const char *signal, wi_scroll_handler handler, void *context, void (*release)(void *)) {
    return join(object, signal, (kind){"dd", TRUE}, G_CALLBACK(handler), context, release);
}

int wi_scroll_is_in_pixels(void *controller) {
#if GTK_CHECK_VERSION(4, 8, 0)
    return gtk_event_controller_scroll_get_unit(controller) == GDK_SCROLL_UNIT_SURFACE;
#else
    /* In these versions, GTK reports the movement of fingers in steps, too. */
    (void)controller;
    return 0;
#endif
}
#endif
