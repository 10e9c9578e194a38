#ifndef WI_CLONES_H
#define WI_CLONES_H

// Under ThreadSanitizer there are no clones: it instruments the resolver that picks a clone, which runs before its runtime is
// ready.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WI_NO_CLONES
#endif
#endif

// This header defines __GLIBC__. The linkers of musl and macOS do not support resolvers.
#include <stdlib.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(WI_NO_CLONES)
#define WI_CLONES __attribute__((target_clones("avx2", "default")))
#define WI_CLONES_FMA __attribute__((target_clones("arch=x86-64-v3", "default")))
// For loops written with vectors of 64 bytes, which fit one register of processors with AVX-512.
#define WI_CLONES_WIDE \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), min_vector_width(512)))
#else
#define WI_CLONES
#define WI_CLONES_FMA
#define WI_CLONES_WIDE
#endif

#define WI_INLINE static inline __attribute__((always_inline))

#endif
