#include "CShimAllocator.h"
#include <stdlib.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

void wi_limit_arenas(int most) {
#if defined(__GLIBC__)
    mallopt(M_ARENA_MAX, most);
#else
    (void)most;
#endif
}
