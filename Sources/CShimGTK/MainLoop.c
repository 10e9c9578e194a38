#include "CShimGTK.h"
#if __has_include(<gtk/gtk.h>)
#include <glib-unix.h>
#include <gtk/gtk.h>
#include <unistd.h>

#ifdef __linux__
/* libdispatch's main queue, for main loops that are not its own. CoreFoundation's run loop uses the same two. */
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

static uint64_t count;

static gboolean drain(gint descriptor, GIOCondition condition, gpointer data) {
    (void)condition;
    (void)data;
    /* Nobody else takes the value out, and the main loop would find it again at once, for ever. */
    uint64_t value;
    ssize_t result = read(descriptor, &value, sizeof value);
    (void)result;
    count += 1;
    _dispatch_main_queue_callback_4CF(NULL);
    return G_SOURCE_CONTINUE;
}

void wi_pump_install(void) {
    static gsize is_installed;
    if (!g_once_init_enter(&is_installed)) return;
    g_unix_fd_add(_dispatch_get_main_queue_handle_4CF(), G_IO_IN, drain, NULL);
    g_once_init_leave(&is_installed, 1);
}

uint64_t wi_pump_count(void) { return count; }
#else
/* On macOS GTK runs the system's own run loop, which serves the main queue. */
void wi_pump_install(void) {}

uint64_t wi_pump_count(void) { return 0; }
#endif

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
