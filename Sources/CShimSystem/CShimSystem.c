#define _GNU_SOURCE
#include "CShimSystem.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void wi_name_thread(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    pthread_setname_np(pthread_self(), cut);
}

int wi_open_temporary(const char *directory) {
    int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    /* Not every file system has O_TMPFILE: a named file, removed at once. */
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.webimage-XXXXXX", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

int wi_exchange(int one_directory, const char *one, int other_directory, const char *other) {
    int result = renameat2(one_directory, one, other_directory, other, RENAME_EXCHANGE);
    if (result != 0 && (errno == ENOSYS || errno == EOPNOTSUPP)) errno = EINVAL;
    return result;
}

int wi_processor_count(void) {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 0) return CPU_COUNT(&mask);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int wi_current_processor(void) {
    int processor = sched_getcpu();
    return processor < 0 ? 0 : processor;
}

int wi_start_on_stack(size_t stack, void *(*work)(void *), void *context) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return -1;
    int result = pthread_attr_setstacksize(&attributes, stack);
    if (result == 0) result = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (result == 0) result = pthread_create(&thread, &attributes, work, context);
    pthread_attr_destroy(&attributes);
    return result == 0 ? 0 : -1;
}
