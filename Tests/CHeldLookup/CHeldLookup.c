#define _GNU_SOURCE
#include "CHeldLookup.h"
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static int held, is_released;

int wi_held_lookups(void) {
    pthread_mutex_lock(&mutex);
    int count = held;
    pthread_mutex_unlock(&mutex);
    return count;
}

void wi_release_lookups(void) {
    pthread_mutex_lock(&mutex);
    is_released = 1;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&mutex);
}

static int is_held(const char *name) {
    static const char end[] = ".held.test";
    size_t length = name ? strlen(name) : 0;
    return length >= sizeof end - 1 && strcmp(name + length - (sizeof end - 1), end) == 0;
}

int getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    if (is_held(name)) {
        pthread_mutex_lock(&mutex);
        held++;
        /* A test that waits for a look-up fails instead of standing still for ever. */
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 30;
        int late = 0;
        while (!is_released && !late) late = pthread_cond_timedwait(&released, &mutex, &end) == ETIMEDOUT;
        held--;
        pthread_mutex_unlock(&mutex);
        return EAI_NONAME;
    }
    typedef int (*lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    lookup real;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real ? real(name, service, hints, result) : EAI_FAIL;
}
