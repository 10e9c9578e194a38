#include "CShimGTK.h"
#if __has_include(<gtk/gtk.h>)
#include <glib-unix.h>
#include <gtk/gtk.h>

static uint64_t count;
static void (*serve_main_queue)(void);

static gboolean serve(gint descriptor, GIOCondition condition, gpointer data) {
    (void)descriptor, (void)condition, (void)data;
    count += 1;
    serve_main_queue();
    return G_SOURCE_CONTINUE;
}

void wi_pump_install(int descriptor, void (*serve_queue)(void)) {
    static gsize is_installed;
    if (!g_once_init_enter(&is_installed)) return;
    serve_main_queue = serve_queue;
    if (descriptor >= 0) g_unix_fd_add(descriptor, G_IO_IN, serve, NULL);
    g_once_init_leave(&is_installed, 1);
}

uint64_t wi_pump_count(void) { return count; }

typedef struct {
    GSource source;
    void (*wake)(void *context);
    void *context;
} alarm_source;

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data) {
    (void)callback;
    (void)data;
    alarm_source *alarm = (alarm_source *)source;
    g_source_set_ready_time(source, -1);
    alarm->wake(alarm->context);
    return G_SOURCE_CONTINUE;
}

static GSourceFuncs alarm_functions = {.dispatch = dispatch};

void *wi_alarm_new(void (*wake)(void *), void *context) {
    GSource *source = g_source_new(&alarm_functions, sizeof(alarm_source));
    ((alarm_source *)source)->wake = wake;
    ((alarm_source *)source)->context = context;
    g_source_attach(source, NULL);
    return source;
}

void wi_alarm_set(void *alarm, int64_t time) { g_source_set_ready_time(alarm, time); }

void wi_alarm_destroy(void *alarm) {
    g_source_destroy(alarm);
    g_source_unref(alarm);
}
#endif
