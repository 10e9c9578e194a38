#include "CShimSystem.h"

// Tells which libc it is.
#include <stdlib.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

int64_t wi_machine_memory(void) {
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? pages * size : 0;
}

// From here on the first write to each page costs more than a system call; measured: a third of the decode of 12 megapixels.
enum { WI_LARGE = 8 << 20 };

void *wi_allocate(size_t count) {
    char *memory = malloc(count);
    long page = sysconf(_SC_PAGESIZE);
    if (memory && count >= WI_LARGE && page > 0) {
        size_t unaligned = (uintptr_t)memory % (size_t)page, unused = unaligned ? (size_t)page - unaligned : 0;
        wi_wish_for_large_pages(memory + unused, (count - unused) / (size_t)page * (size_t)page);
    }
    return memory;
}

void wi_free(void *memory) { free(memory); }

void wi_return_memory_early(void) {
#if defined(__GLIBC__)
    mallopt(M_TRIM_THRESHOLD, 128 << 10);
    mallopt(M_ARENA_MAX, 1);
#endif
}

void wi_return_free_memory(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}
