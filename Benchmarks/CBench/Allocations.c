#include "CBench.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

long cb_peak_kibibytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
    return usage.ru_maxrss / 1024;
#else
    return usage.ru_maxrss;
#endif
}

uint64_t cb_children_cpu_nanoseconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    uint64_t seconds = (uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec;
    uint64_t rest = (uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec;
    return seconds * 1000000000u + rest * 1000u;
}

#if defined(__GLIBC__)
/* glibc exports the real functions under these names, for programs that replace malloc. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Thread_local uint64_t allocations;

uint64_t cb_malloc_count(void) { return allocations; }

void cb_print_by_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

void *malloc(size_t count) {
    allocations++;
    return __libc_malloc(count);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t count) {
    allocations++;
    return __libc_realloc(memory, count);
}

void *memalign(size_t alignment, size_t count) {
    allocations++;
    return __libc_memalign(alignment, count);
}

void *aligned_alloc(size_t alignment, size_t count) {
    allocations++;
    return __libc_memalign(alignment, count);
}

int posix_memalign(void **memory, size_t alignment, size_t count) {
    allocations++;
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    void *block = __libc_memalign(alignment, count);
    if (!block) return ENOMEM;
    *memory = block;
    return 0;
}
#else
uint64_t cb_malloc_count(void) { return 0; }
#endif
