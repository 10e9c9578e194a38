#define _GNU_SOURCE
#include "CShimSystem.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "Internal.h"

int wi_online_processors(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

#if defined(__GLIBC__)
enum { DEFAULT_STACK = 0 };
#else
/* As with glibc. macOS has half a megabyte and musl an eighth, which deep calls in C libraries overflow. */
enum { DEFAULT_STACK = 8 << 20 };
#endif

int wi_start_on_stack(size_t stack, void *(*work)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return -1;
    if (stack == 0) stack = DEFAULT_STACK;
    int result = stack > 0 ? pthread_attr_setstacksize(&attributes, stack) : 0;
    if (result == 0) result = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (result == 0) result = pthread_create(&thread, &attributes, work, context);
    pthread_attr_destroy(&attributes);
    return result == 0 ? 0 : -1;
}

struct wi_condition {
    pthread_cond_t condition;
};

wi_condition *wi_make_condition(void) {
    wi_condition *made = malloc(sizeof *made);
    if (!made) return NULL;
#ifdef __APPLE__
    pthread_cond_init(&made->condition, NULL);
#else
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&made->condition, &attributes);
    pthread_condattr_destroy(&attributes);
#endif
    return made;
}

void wi_destroy_condition(wi_condition *condition) {
    pthread_cond_destroy(&condition->condition);
    free(condition);
}

void wi_signal(wi_condition *condition) { pthread_cond_signal(&condition->condition); }

void wi_signal_all(wi_condition *condition) { pthread_cond_broadcast(&condition->condition); }

int wi_wait_for(wi_condition *condition, void *mutex, int64_t nanoseconds) {
#ifdef __APPLE__
    /* macOS has no attribute for the clock, but a call that takes a relative time. */
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return pthread_cond_timedwait_relative_np(&condition->condition, mutex, &time);
#else
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec += nanoseconds % 1000000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec += 1;
        end.tv_nsec -= 1000000000;
    }
    return pthread_cond_timedwait(&condition->condition, mutex, &end);
#endif
}
