/* The functions of Linux.c for other systems: by POSIX, and by Apple's own calls where POSIX has none. Not compiled on a Mac
   yet. On Linux it can be built and tested with WEBIMAGE_PORTABLE set in the environment, which Package.swift reads. */
#define _GNU_SOURCE
#include "CShimSystem.h"

#if !WI_IS_LINUX
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "Internal.h"

void wi_name_thread(const char *name) {
#ifdef __APPLE__
    pthread_setname_np(name);
#else
    (void)name;
#endif
}

void wi_compute_in_long_turns(void) {}

int wi_processor_count(void) { return wi_online_processors(); }

int wi_current_processor(void) {
    /* A hash of the thread's identifier, which spreads threads over the numbers as well. */
    return (int)(((uint64_t)(uintptr_t)pthread_self() * 0x9E3779B97F4A7C15) >> 48);
}

int wi_take_room(int file, int64_t count) {
    (void)file, (void)count;
    return 0;
}

int wi_open_nameless(const char *directory, uint32_t mode) {
    (void)directory, (void)mode;
    errno = EOPNOTSUPP;
    return -1;
}

int wi_exchange_names(int one_directory, const char *one, int other_directory, const char *other) {
#ifdef __APPLE__
    return renameatx_np(one_directory, one, other_directory, other, RENAME_SWAP);
#else
    (void)one_directory, (void)one, (void)other_directory, (void)other;
    errno = ENOSYS;
    return -1;
#endif
}

int wi_open_without_links(int directory, const char *name, int flags, uint32_t mode) {
#ifdef O_NOFOLLOW_ANY
    return openat(directory, name, (flags & ~O_NOFOLLOW) | O_NOFOLLOW_ANY, mode);
#else
    return openat(directory, name, flags | O_NOFOLLOW, mode);
#endif
}

int wi_open_at_once(int directory, const char *name) {
    (void)directory, (void)name;
    errno = ENOSYS;
    return -1;
}

long wi_read_at_once(int file, void *bytes, size_t count, int64_t offset) {
    (void)file, (void)bytes, (void)count, (void)offset;
    errno = ENOSYS;
    return -1;
}

int wi_sync(int file) { return fsync(file); }

int wi_memory_file(char *name, size_t capacity) {
    const char *directory = getenv("TMPDIR");
    if (!directory || !*directory) directory = "/tmp";
    if (snprintf(name, capacity, "%s/webimage-XXXXXX", directory) >= (int)capacity) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return mkostemp(name, O_CLOEXEC);
}

void wi_remove_memory_file(int file, const char *name) {
    close(file);
    unlink(name);
}

void wi_wish_for_large_pages(void *start, size_t count) { (void)start, (void)count; }

/* A child process that another thread starts between the two calls inherits the file. There is no better way. */
static int kept_from_children(int file) {
    if (file >= 0) fcntl(file, F_SETFD, FD_CLOEXEC);
    return file;
}

int wi_pipe(int ends[2]) {
    if (pipe(ends) != 0) return -1;
    kept_from_children(ends[0]);
    kept_from_children(ends[1]);
    return 0;
}

static int quiet(int socket) {
#ifdef SO_NOSIGPIPE
    int yes = 1;
    if (socket >= 0) setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
    return kept_from_children(socket);
}

int wi_socket(int family, int type, int protocol) { return quiet(socket(family, type, protocol)); }

int wi_watch_network(void) { return -1; }

int wi_accept(int listener) { return quiet(accept(listener, NULL, NULL)); }

long wi_send(int socket, const void *bytes, size_t count) {
#ifdef SO_NOSIGPIPE
    return send(socket, bytes, count, 0);
#else
    return send(socket, bytes, count, MSG_NOSIGNAL);
#endif
}

/* Systems without POLLRDHUP report a half-closed connection by POLLHUP. */
short wi_poll_finished_sending(void) {
#ifdef POLLRDHUP
    return POLLRDHUP;
#else
    return POLLHUP;
#endif
}
#endif
