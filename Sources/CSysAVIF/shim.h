#pragma once
#include "Functions.h"
#include <avif/avif.h>

/* Which way `imir` mirrors: 0 top to bottom, 1 left to right. libavif 1.0 gave the field another name. */
static inline uint8_t *_Nonnull wi_avif_mirror_axis(avifImage *_Nonnull image) {
#if AVIF_VERSION_MAJOR == 0
    return &image->imir.mode;
#else
    return &image->imir.axis;
#endif
}
