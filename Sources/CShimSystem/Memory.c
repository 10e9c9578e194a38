#include "CShimSystem.h"

// Tells which libc it is.
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

int64_t wi_machine_memory(void) {
    int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? pages * size : 0;
}

// From here on a block is mapped for itself, where a large page begins. The first write to a small page costs more than a
// system call, and a block from the allocator either has those, or goes back to the system with its neighbours when it is freed:
// measured, 16 MiB take 0.4 ms in large pages and 6 ms in small ones.
enum { WI_LARGE = 8 << 20, WI_LARGE_PAGE = 2 << 20 };

// Sanitizers look after the allocator's blocks only.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WI_NO_LARGE_BLOCKS
#endif
#endif

static int wi_is_large(size_t count) {
#if defined(WI_NO_LARGE_BLOCKS)
    (void)count;
    return 0;
#else
    return count >= WI_LARGE && count <= SIZE_MAX / 2;
#endif
}

// Whole small pages, and whole large ones where that adds less than half a one.
static size_t wi_mapped_size(size_t count) {
    size_t rest = count % WI_LARGE_PAGE, page = (size_t)sysconf(_SC_PAGESIZE);
    if (rest >= WI_LARGE_PAGE / 2) return count + WI_LARGE_PAGE - rest;
    return (count + page - 1) / page * page;
}

void *wi_allocate(size_t count) {
    if (!wi_is_large(count)) return malloc(count);
    size_t size = wi_mapped_size(count), room = size + WI_LARGE_PAGE;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    size_t before = (WI_LARGE_PAGE - (uintptr_t)memory % WI_LARGE_PAGE) % WI_LARGE_PAGE, behind = room - before - size;
    if (before > 0) munmap(memory, before);
    if (behind > 0) munmap(memory + before + size, behind);
    wi_wish_for_large_pages(memory + before, size);
    return memory + before;
}

void wi_free(void *memory, size_t count) {
    if (!memory) return;
    if (wi_is_large(count)) munmap(memory, wi_mapped_size(count));
    else free(memory);
}

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
