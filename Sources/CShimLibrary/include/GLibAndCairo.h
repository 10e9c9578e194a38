#pragma once
#include "CShimLibrary.h"
#include <stddef.h>
#include <stdint.h>

/* Our declarations of what we use of GLib and cairo, so that a build does not need their headers. With WI_CHECK_DECLARATIONS the
   headers are included, so that the compiler reports a declaration that differs (`scripts/check-builds`). */

#ifdef WI_CHECK_DECLARATIONS
#include <cairo.h>
#include <gio/gio.h>
#else

typedef int gboolean;
typedef int gint;
typedef unsigned int guint;
typedef unsigned long gulong;
typedef void *gpointer;
typedef const void *gconstpointer;
typedef size_t gsize;
typedef ptrdiff_t gssize;
typedef uint32_t GQuark;
typedef size_t GType;
typedef void (*GDestroyNotify)(gpointer data);

typedef struct _GError {
    GQuark domain;
    gint code;
    char *message;
} GError;

/// A value of any type, 24 bytes.
typedef struct _GValue {
    GType type;
    uint64_t data[2];
} GValue;

typedef struct _GBytes GBytes;
typedef struct _GCancellable GCancellable;
typedef struct _GInputStream GInputStream;

typedef struct _GSignalInvocationHint GSignalInvocationHint;
typedef gboolean (*GSignalEmissionHook)(
    GSignalInvocationHint *hint, guint count, const GValue *values, gpointer context);

typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;
typedef enum { CAIRO_STATUS_SUCCESS, CAIRO_STATUS_NO_MEMORY } cairo_status_t;
typedef enum { CAIRO_FORMAT_ARGB32, CAIRO_FORMAT_RGB24 } cairo_format_t;

#endif

#define WI_DRAWING_FUNCTIONS(F, O) \
    F(void, g_object_unref, (gpointer object)) \
    F(void, g_error_free, (GError * error)) \
    F(cairo_t *, cairo_create, (cairo_surface_t * surface)) \
    F(void, cairo_destroy, (cairo_t * canvas)) \
    F(void, cairo_translate, (cairo_t * canvas, double x, double y)) \
    F(void, cairo_scale, (cairo_t * canvas, double x, double y)) \
    F(cairo_status_t, cairo_status, (cairo_t * canvas)) \
    F(cairo_surface_t *, cairo_image_surface_create, (cairo_format_t format, int width, int height)) \
    F(unsigned char *, cairo_image_surface_get_data, (cairo_surface_t * surface)) \
    F(int, cairo_image_surface_get_stride, (cairo_surface_t * surface)) \
    F(cairo_status_t, cairo_surface_status, (cairo_surface_t * surface)) \
    F(void, cairo_surface_flush, (cairo_surface_t * surface)) \
    F(void, cairo_surface_finish, (cairo_surface_t * surface)) \
    F(void, cairo_surface_destroy, (cairo_surface_t * surface))
