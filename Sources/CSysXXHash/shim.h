#pragma once
#include <stdio.h>
#include <xxhash.h>
/* Compiled for the least of all x86-64 processors, the hash runs at half the speed of a copy; the library also has it
   for the processor that is there. */
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>

/* That code leaves the upper parts of the vector registers dirty, and the next SSE instruction waits until they are saved:
   longer than a short hash takes. Inputs of up to 240 bytes are hashed without vectors. */
static inline void wi_clean_registers(size_t count) {
    if (count > 240 && __builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroupper" ::
                             : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                               "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}
#else
static inline void wi_clean_registers(size_t count) { (void)count; }
#endif

static inline XXH64_hash_t wi_xxh3(const void *bytes, size_t count) {
    XXH64_hash_t hash = XXH3_64bits(bytes, count);
    wi_clean_registers(count);
    return hash;
}

static inline XXH_errorcode wi_xxh3_update(XXH3_state_t *state, const void *bytes, size_t count) {
    XXH_errorcode result = XXH3_64bits_update(state, bytes, count);
    /* The state gathers 256 bytes before it hashes them, so that it may be a short part that does it. */
    wi_clean_registers(256);
    return result;
}
