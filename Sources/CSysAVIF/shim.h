#pragma once
#include "Functions.h"
#include <avif/avif.h>
#include <stdbool.h>

/* Which way `imir` mirrors: 0 top to bottom, 1 left to right. libavif 1.0 gave the field another name. */
static inline uint8_t *_Nonnull wi_avif_mirror_axis(avifImage *_Nonnull image) {
#if AVIF_VERSION_MAJOR == 0
    return &image->imir.mode;
#else
    return &image->imir.axis;
#endif
}

/* How often a sequence is played again behind the first time, or -1 for ever. False: this libavif (before 1.0) leaves it out. */
static inline bool wi_avif_set_repetitions(avifEncoder *_Nonnull encoder, int count) {
#if AVIF_VERSION_MAJOR == 0
    (void)encoder;
    (void)count;
    return false;
#else
    encoder->repetitionCount = count < 0 ? AVIF_REPETITION_COUNT_INFINITE : count;
    return true;
#endif
}
