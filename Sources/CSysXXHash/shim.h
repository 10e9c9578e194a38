#pragma once
#include <stdio.h>
#include <xxhash.h>
/* Compiled for the least of all x86-64 processors, the hash runs at half the speed of a copy; the library also has it
   for the processor that is there. */
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

static inline XXH64_hash_t wi_xxh3(const void *bytes, size_t count) { return XXH3_64bits(bytes, count); }

static inline XXH_errorcode wi_xxh3_update(XXH3_state_t *state, const void *bytes, size_t count) {
    return XXH3_64bits_update(state, bytes, count);
}
