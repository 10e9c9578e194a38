/* The system calls of Linux. Portable.c has the same functions for other systems. */
#define _GNU_SOURCE
#include "CShimSystem.h"

#if WI_IS_LINUX
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "Internal.h"

void wi_name_thread(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    pthread_setname_np(pthread_self(), cut);
}

/* struct sched_attr, which headers do not declare. Older C libraries do not have the two calls either. */
struct wi_schedule { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; };
static const uint64_t long_turn = 20000000;

void wi_compute_in_long_turns(void) {
    struct wi_schedule schedule = {0};
    if (syscall(SYS_sched_getattr, 0, &schedule, sizeof schedule, 0) != 0 || schedule.policy != SCHED_OTHER) return;
    schedule.policy = SCHED_BATCH;
    /* The length of a turn in nanoseconds, since Linux 6.12. Older versions ignore it. */
    schedule.runtime = long_turn;
    syscall(SYS_sched_setattr, 0, &schedule, 0);
}

int wi_processor_count(void) {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 0) return CPU_COUNT(&mask);
    return wi_online_processors();
}

int wi_current_processor(void) {
    int processor = sched_getcpu();
    return processor < 0 ? 0 : processor;
}

int wi_open_nameless(const char *directory, uint32_t mode) {
    return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int wi_take_room(int file, int64_t count) {
    if (fallocate(file, FALLOC_FL_KEEP_SIZE, 0, count) == 0) return 0;
    return errno == ENOSPC || errno == EDQUOT ? errno : 0;
}

/* 2 is RENAME_EXCHANGE; musl has neither the constant nor the function. */
int wi_exchange_names(int one_directory, const char *one, int other_directory, const char *other) {
    return (int)syscall(SYS_renameat2, one_directory, one, other_directory, other, 2u);
}

/* struct open_how and two of its flags, which older headers do not declare. */
struct wi_open_how { uint64_t flags, mode, resolve; };
static const uint64_t resolve_no_links = 0x04, resolve_cached = 0x20;

static int open_as(int directory, const char *name, const struct wi_open_how *how) {
#if defined(SYS_openat2)
    return (int)syscall(SYS_openat2, directory, name, how, sizeof *how);
#else
    (void)directory;
    (void)name;
    (void)how;
    errno = ENOSYS;
    return -1;
#endif
}

int wi_open_without_links(int directory, const char *name, int flags, uint32_t mode) {
    struct wi_open_how how = {
        .flags = (uint32_t)flags, .mode = flags & O_CREAT ? mode : 0, .resolve = resolve_no_links};
    int file = open_as(directory, name, &how);
    /* Linux before 5.6 does not have the call, and some containers forbid it. */
    if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
    return openat(directory, name, flags | O_NOFOLLOW, mode);
}

int wi_open_at_once(int directory, const char *name) {
    struct wi_open_how how = {
        .flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
        .resolve = resolve_cached | (directory == AT_FDCWD ? 0 : resolve_no_links)};
    return open_as(directory, name, &how);
}

long wi_read_at_once(int file, void *bytes, size_t count, int64_t offset) {
#if defined(SYS_preadv2) && defined(__LP64__)
    struct iovec part = {.iov_base = bytes, .iov_len = count};
    /* 8 is RWF_NOWAIT. The offset is passed in two halves, of which the first holds all of it on 64-bit machines. */
    return syscall(SYS_preadv2, file, &part, 1ul, (unsigned long)offset, 0ul, 8);
#else
    (void)file;
    (void)bytes;
    (void)count;
    (void)offset;
    errno = ENOSYS;
    return -1;
#endif
}

int wi_sync(int file) { return fdatasync(file); }

int wi_memory_file(char *name, size_t capacity) {
    int file = memfd_create("webimage", MFD_CLOEXEC);
    if (file >= 0) snprintf(name, capacity, "/proc/self/fd/%d", file);
    return file;
}

void wi_remove_memory_file(int file, const char *name) {
    (void)name;
    close(file);
}

void wi_wish_for_large_pages(void *start, size_t count) { madvise(start, count, MADV_HUGEPAGE); }

int wi_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int wi_socket(int family, int type, int protocol) { return socket(family, type | SOCK_CLOEXEC, protocol); }

int wi_watch_network(void) {
    struct sockaddr_nl groups = {
        .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
    int changes = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (changes >= 0 && bind(changes, (struct sockaddr *)&groups, sizeof groups) == 0) return changes;
    if (changes >= 0) close(changes);
    return -1;
}

int wi_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

long wi_send(int socket, const void *bytes, size_t count) { return send(socket, bytes, count, MSG_NOSIGNAL); }

short wi_poll_finished_sending(void) { return POLLRDHUP; }
#endif
