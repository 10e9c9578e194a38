#include "CShimGTK.h"
#if __has_include(<gtk/gtk.h>)
#include <gtk/gtk.h>

typedef struct {
    GObject parent;
    wi_paintable_callbacks callbacks;
    void *context;
} WiPaintable;

typedef struct {
    GObjectClass parent;
} WiPaintableClass;

static void implement(GdkPaintableInterface *interface);

G_DEFINE_TYPE_WITH_CODE(
    WiPaintable, wi_paintable, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE(GDK_TYPE_PAINTABLE, implement))

static WiPaintable *own(void *paintable) { return paintable; }

static void snapshot(GdkPaintable *paintable, GdkSnapshot *snapshot, double width, double height) {
    WiPaintable *self = own(paintable);
    if (self->context != NULL) self->callbacks.snapshot(self->context, snapshot, width, height);
}

static int width(GdkPaintable *paintable) {
    WiPaintable *self = own(paintable);
    return self->context != NULL ? self->callbacks.width(self->context) : 0;
}

static int height(GdkPaintable *paintable) {
    WiPaintable *self = own(paintable);
    return self->context != NULL ? self->callbacks.height(self->context) : 0;
}

static double aspect(GdkPaintable *paintable) {
    WiPaintable *self = own(paintable);
    return self->context != NULL ? self->callbacks.aspect(self->context) : 0;
}

/* The current content as a paintable that does not change. */
static GdkPaintable *current_image(GdkPaintable *paintable) {
    graphene_size_t size = GRAPHENE_SIZE_INIT((float)width(paintable), (float)height(paintable));
    GtkSnapshot *drawing = gtk_snapshot_new();
    snapshot(paintable, drawing, size.width, size.height);
    GdkPaintable *image = gtk_snapshot_free_to_paintable(drawing, &size);
    return image != NULL ? image : gdk_paintable_new_empty((int)size.width, (int)size.height);
}

static void implement(GdkPaintableInterface *interface) {
    interface->snapshot = snapshot;
    interface->get_current_image = current_image;
    interface->get_intrinsic_width = width;
    interface->get_intrinsic_height = height;
    interface->get_intrinsic_aspect_ratio = aspect;
}

static void wi_paintable_class_init(WiPaintableClass *class) { (void)class; }

static void wi_paintable_init(WiPaintable *self) { (void)self; }

void *wi_paintable_new(wi_paintable_callbacks callbacks, void *context) {
    WiPaintable *self = g_object_new(wi_paintable_get_type(), NULL);
    self->callbacks = callbacks;
    self->context = context;
    return self;
}

void wi_paintable_detach(void *paintable) { own(paintable)->context = NULL; }
#endif
