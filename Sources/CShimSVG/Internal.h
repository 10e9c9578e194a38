#pragma once
#include "CShimLibrary.h"
#include "CShimSVG.h"
#include "Functions.h"

struct wi_svg {
    RsvgHandle *handle;
    cairo_surface_t *surface;
    uint8_t *inflated;
    GCancellable *cancellable;
    /// Whether librsvg has panicked: its objects must then be neither used nor freed.
    int is_broken;
    char message[256];
};

/// Remembers a message; frees `error`.
int wi_svg_fail(wi_svg *svg, int code, GError *error);

/// Until `wi_svg_bitmaps_end`, the bitmaps that librsvg loads on this thread may have `room` pixels together.
void wi_svg_bitmaps_begin(uint64_t room);
void wi_svg_bitmaps_end(void);
