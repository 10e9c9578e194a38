#include "CShimSystem.h"

// Defines `__GLIBC__` if the C library is glibc.
#include <pthread.h>
#include <stdatomic.h>
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

// A block of at least this size is mapped on its own, at the beginning of a large page. The first write to a small page costs more
// than a system call, and a block from the allocator either consists of small pages, or is returned to the system with its
// neighbours when it is freed. Measured: 16 MiB take 0.4 ms to 1 ms in large pages and 6 ms in small ones.
enum { WI_LARGE = 8 << 20, WI_LARGE_PAGE = 2 << 20 };

// Sanitizers check only blocks of the allocator.
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

// Rounds up to whole large pages if that adds at most half a large page, otherwise to whole small pages.
static size_t wi_mapped_size(size_t count) {
    size_t rest = count % WI_LARGE_PAGE, page = (size_t)sysconf(_SC_PAGESIZE);
    if (rest >= WI_LARGE_PAGE / 2) return count + WI_LARGE_PAGE - rest;
    return (count + page - 1) / page * page;
}

// glibc keeps twice as much free memory as the largest block that it saw freed, up to 32 MiB: enough for the memory that a decoder
// takes for a picture of that size. Our blocks bypass glibc, so we show it one, which nobody writes to. Measured: without it a
// JPEG XL of 4 megapixels takes 2300 fresh pages each time, a tenth of its decode. A limit that the program itself has set
// (`M_TRIM_THRESHOLD`) stays.
static void wi_show_allocator(size_t count) {
#if defined(__GLIBC__)
    static _Atomic size_t shown;
    if (count > 32 << 20 || count <= atomic_load_explicit(&shown, memory_order_relaxed)) return;
    atomic_store_explicit(&shown, count, memory_order_relaxed);
    // Volatile, because a compiler removes allocations that are freed unused.
    void *volatile block = malloc(count);
    free(block);
#else
    (void)count;
#endif
}

// The blocks that were freed last, kept for the next picture of that size: as much as the allocator would keep. (With `MADV_FREE`,
// which lets the system take their pages, a reuse would cost as much as fresh pages.)
enum { WI_KEPT_BLOCKS = 2, WI_MOST_KEPT = 32 << 20 };
typedef struct wi_block {
    char *memory;
    size_t size;
} wi_block;
static wi_block wi_kept[WI_KEPT_BLOCKS];
static int wi_keeps_none;
static pthread_mutex_t wi_kept_lock = PTHREAD_MUTEX_INITIALIZER;

static void wi_unmap(wi_block block) {
    if (block.memory) munmap(block.memory, block.size);
}

// Takes a kept block of at least that size, and not much larger; an empty one if there is none.
static wi_block wi_take_kept(size_t size) {
    wi_block found = {0};
    pthread_mutex_lock(&wi_kept_lock);
    for (int i = 0; i < WI_KEPT_BLOCKS && !found.memory; i++) {
        if (wi_kept[i].size < size || wi_kept[i].size - size > size / 4) continue;
        found = wi_kept[i];
        wi_kept[i] = (wi_block){0};
    }
    pthread_mutex_unlock(&wi_kept_lock);
    return found;
}

// Keeps a block in place of the one that was kept longest.
static void wi_keep(wi_block block) {
    pthread_mutex_lock(&wi_kept_lock);
    if (!wi_keeps_none) {
        wi_block oldest = wi_kept[WI_KEPT_BLOCKS - 1];
        for (int i = WI_KEPT_BLOCKS - 1; i > 0; i--) wi_kept[i] = wi_kept[i - 1];
        wi_kept[0] = block;
        block = oldest;
    }
    pthread_mutex_unlock(&wi_kept_lock);
    wi_unmap(block);
}

// Frees the kept blocks. If `for_good`, no blocks are kept from now on.
static void wi_drop_kept(int for_good) {
    wi_block dropped[WI_KEPT_BLOCKS];
    pthread_mutex_lock(&wi_kept_lock);
    for (int i = 0; i < WI_KEPT_BLOCKS; i++) {
        dropped[i] = wi_kept[i];
        wi_kept[i] = (wi_block){0};
    }
    wi_keeps_none |= for_good;
    pthread_mutex_unlock(&wi_kept_lock);
    for (int i = 0; i < WI_KEPT_BLOCKS; i++) wi_unmap(dropped[i]);
}

static char *wi_map(size_t size) {
    size_t room = size + WI_LARGE_PAGE;
    char *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    size_t before = (WI_LARGE_PAGE - (uintptr_t)memory % WI_LARGE_PAGE) % WI_LARGE_PAGE, behind = room - before - size;
    if (before > 0) munmap(memory, before);
    if (behind > 0) munmap(memory + before + size, behind);
    wi_wish_for_large_pages(memory + before, size);
    return memory + before;
}

void *wi_allocate(size_t count) {
    if (!wi_is_large(count)) return malloc(count);
    wi_show_allocator(count);
    size_t size = wi_mapped_size(count);
    wi_block kept = wi_take_kept(size);
    if (!kept.memory) return wi_map(size);
    if (kept.size > size) munmap(kept.memory + size, kept.size - size);
    return kept.memory;
}

void wi_free(void *memory, size_t count) {
    if (!memory) return;
    if (!wi_is_large(count)) return free(memory);
    wi_block block = {memory, wi_mapped_size(count)};
    if (block.size > WI_MOST_KEPT) wi_unmap(block);
    else wi_keep(block);
}

void wi_return_memory_early(void) {
    wi_drop_kept(1);
#if defined(__GLIBC__)
    mallopt(M_TRIM_THRESHOLD, 128 << 10);
    mallopt(M_ARENA_MAX, 1);
#endif
}

void wi_return_free_memory(void) {
    wi_drop_kept(0);
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}
