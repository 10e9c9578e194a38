#ifndef WI_PLANES_H
#define WI_PLANES_H

#include "CPixels.h"

struct wi_planes {
    _Alignas(32) float r[WI_RUN_PIXELS];
    float g[WI_RUN_PIXELS];
    float b[WI_RUN_PIXELS];
    float a[WI_RUN_PIXELS];
};

#endif
