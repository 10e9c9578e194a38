#include "CShimGTK.h"
#if __has_include(<gtk/gtk.h>)
#include <gtk/gtk.h>

typedef struct {
    GtkWidget parent;
    wi_box_callbacks callbacks;
    void *context;
    guint ticks;
    gboolean is_height_for_width;
    gboolean is_allocated;
} WiBox;

typedef struct {
    GtkWidgetClass parent;
} WiBoxClass;

G_DEFINE_TYPE(WiBox, wi_box, GTK_TYPE_WIDGET)

static WiBox *own(void *box) { return box; }

static GtkSizeRequestMode request_mode(GtkWidget *widget) {
    return own(widget)->is_height_for_width ? GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH : GTK_SIZE_REQUEST_CONSTANT_SIZE;
}

static void measure(
    GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
    int *natural_baseline) {
    WiBox *self = own(widget);
    *minimum = *natural = 0;
    *minimum_baseline = *natural_baseline = -1;
    if (self->context == NULL) return;
    self->callbacks.measure(self->context, orientation == GTK_ORIENTATION_VERTICAL, for_size, minimum, natural);
}

static void report_size(GtkWidget *widget) {
    WiBox *self = own(widget);
    int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    if (self->context == NULL || !self->is_allocated) return;
    self->callbacks.resize(self->context, width, height, gtk_widget_get_scale_factor(widget));
}

static void size_allocate(GtkWidget *widget, int width, int height, int baseline) {
    (void)width;
    (void)height;
    (void)baseline;
    own(widget)->is_allocated = TRUE;
    report_size(widget);
}

static void scale_changed(GtkWidget *widget, GParamSpec *property, gpointer data) {
    (void)property;
    (void)data;
    report_size(widget);
}

static void snapshot(GtkWidget *widget, GtkSnapshot *snapshot) {
    WiBox *self = own(widget);
    if (self->context == NULL) return;
    double width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    if (width > 0 && height > 0) self->callbacks.snapshot(self->context, snapshot, width, height);
}

static void map(GtkWidget *widget) {
    GTK_WIDGET_CLASS(wi_box_parent_class)->map(widget);
    WiBox *self = own(widget);
    if (self->context != NULL) self->callbacks.visibility(self->context, 1);
}

static void unmap(GtkWidget *widget) {
    GTK_WIDGET_CLASS(wi_box_parent_class)->unmap(widget);
    WiBox *self = own(widget);
    if (self->context != NULL) self->callbacks.visibility(self->context, 0);
}

static void wi_box_class_init(WiBoxClass *class) {
    GtkWidgetClass *widget = GTK_WIDGET_CLASS(class);
    widget->get_request_mode = request_mode;
    widget->measure = measure;
    widget->size_allocate = size_allocate;
    widget->snapshot = snapshot;
    widget->map = map;
    widget->unmap = unmap;
    gtk_widget_class_set_css_name(widget, "imagebox");
    gtk_widget_class_set_accessible_role(widget, GTK_ACCESSIBLE_ROLE_IMG);
}

static void wi_box_init(WiBox *self) {
    gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
    g_signal_connect(self, "notify::scale-factor", G_CALLBACK(scale_changed), NULL);
}

void *wi_box_new(wi_box_callbacks callbacks, void *context) {
    WiBox *self = g_object_new(wi_box_get_type(), NULL);
    self->callbacks = callbacks;
    self->context = context;
    return self;
}

void wi_box_detach(void *box) {
    wi_box_stop_ticks(box);
    own(box)->context = NULL;
}

static gboolean tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data) {
    (void)data;
    WiBox *self = own(widget);
    if (self->context != NULL) self->callbacks.tick(self->context, gdk_frame_clock_get_frame_time(clock));
    return G_SOURCE_CONTINUE;
}

void wi_box_start_ticks(void *box) {
    if (own(box)->ticks == 0) own(box)->ticks = gtk_widget_add_tick_callback(box, tick, NULL, NULL);
}

void wi_box_stop_ticks(void *box) {
    if (own(box)->ticks != 0) gtk_widget_remove_tick_callback(box, own(box)->ticks);
    own(box)->ticks = 0;
}

void wi_box_set_height_for_width(void *box, int is_so) {
    own(box)->is_height_for_width = is_so;
    gtk_widget_queue_resize(box);
}

int wi_animations_are_enabled(void) {
    gboolean is_enabled = TRUE;
    GtkSettings *settings = gtk_settings_get_default();
    if (settings != NULL) g_object_get(settings, "gtk-enable-animations", &is_enabled, NULL);
    return is_enabled;
}

void wi_set_label(void *widget, const char *text) {
    if (text == NULL) {
        gtk_accessible_reset_property(widget, GTK_ACCESSIBLE_PROPERTY_LABEL);
    } else {
        gtk_accessible_update_property(widget, GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
    }
}

char *wi_check_label(void *widget, const char *text) {
    return gtk_test_accessible_check_property(widget, GTK_ACCESSIBLE_PROPERTY_LABEL, text);
}
#endif
