#include "CShimGTK.h"
#if __has_include(<gtk/gtk.h>)
#include <gtk/gtk.h>

/* A separate renderer draws the screenshot. Drawing an additional picture makes the GL renderer of GTK 4.8 confuse the textures
 * of the window's next frames, since it identifies them by addresses of nodes that are freed by then. */
static GdkTexture *render(GskRenderNode *node, int width, int height) {
    GskRenderer *renderer = gsk_cairo_renderer_new();
    GdkTexture *texture = NULL;
    if (gsk_renderer_realize(renderer, NULL, NULL)) {
        graphene_rect_t area = GRAPHENE_RECT_INIT(0, 0, (float)width, (float)height);
        texture = gsk_renderer_render_texture(renderer, node, &area);
        gsk_renderer_unrealize(renderer);
    }
    g_object_unref(renderer);
    return texture;
}

void *wi_screenshot(void *widget) {
    if (!gtk_widget_get_mapped(widget)) return NULL;
    int scale = gtk_widget_get_scale_factor(widget);
    GdkPaintable *paintable = gtk_widget_paintable_new(widget);
    /* The size includes the widget's border. The widget's own width and height do not, and the picture would be scaled to them. */
    int width = gdk_paintable_get_intrinsic_width(paintable), height = gdk_paintable_get_intrinsic_height(paintable);
    if (width <= 0 || height <= 0) {
        g_object_unref(paintable);
        return NULL;
    }
    GtkSnapshot *snapshot = gtk_snapshot_new();
    gtk_snapshot_scale(snapshot, (float)scale, (float)scale);
    gdk_paintable_snapshot(paintable, snapshot, width, height);
    GskRenderNode *node = gtk_snapshot_free_to_node(snapshot);
    g_object_unref(paintable);
    if (node == NULL) return NULL;
    GdkTexture *texture = render(node, width * scale, height * scale);
    gsk_render_node_unref(node);
    return texture;
}
#endif
