/* The worker's side: how a process becomes one. */
#define _GNU_SOURCE
#include "CShimSandbox.h"

#if WI_HAS_WORKERS
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Defined in WebImageCodecs. A program that links this module but not that one has no workers. */
__attribute__((weak)) int wi_worker_serve(int options, uint64_t memory_limit);

/* Defined in a target of tests. */
__attribute__((weak)) void wi_hostile_decoders(void);

void wi_worker_add_hostile(void) {
    if (wi_hostile_decoders) wi_hostile_decoders();
}

/* Whether a host of ours started this process: nobody else passes a program such a socket under this number. */
static int has_our_socket(void) {
    int type = 0, family = 0;
    socklen_t size = sizeof type;
    if (getsockopt(WI_WORKER_SOCKET, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) return 0;
    size = sizeof family;
    if (getsockopt(WI_WORKER_SOCKET, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 || family != AF_UNIX) return 0;
    struct ucred host;
    size = sizeof host;
    return getsockopt(WI_WORKER_SOCKET, SOL_SOCKET, SO_PEERCRED, &host, &size) == 0 && host.uid == geteuid();
}

/* Closes the descriptors that libraries of the host have opened without the flag that closes them in programs that it starts. */
static void close_inherited(void) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, WI_WORKER_MEMORY + 1, ~0u, 0) == 0) return;
#endif
    /* Linux before 5.9. */
    long most = sysconf(_SC_OPEN_MAX);
    for (int file = WI_WORKER_MEMORY + 1; file < (most > 0 && most < 1 << 20 ? most : 1 << 20); file++) close(file);
}

/* Runs before `main`, which never runs in a worker. So a program that uses the library has to call nothing. glibc passes the
   program's arguments to constructors. */
__attribute__((constructor)) static void become_worker(int count, char **words, char **environment) {
    (void)environment;
    if (count != 3 || !words[0] || strcmp(words[0], "webimage-decoder") != 0 || !wi_worker_serve || !has_our_socket()) return;
    close_inherited();
    _exit(wi_worker_serve(atoi(words[1]), strtoull(words[2], NULL, 10)));
}

void *wi_worker_map(size_t *size) {
    struct stat facts;
    if (fstat(WI_WORKER_MEMORY, &facts) != 0 || facts.st_size <= 0) return NULL;
    *size = (size_t)facts.st_size;
    void *memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, WI_WORKER_MEMORY, 0);
    close(WI_WORKER_MEMORY);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Reads a file, because some file systems cannot map one. */
static void *read_file(int file, size_t count, int *fault) {
    char *memory = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        *fault = WI_FILE_TOO_LONG;
        return MAP_FAILED;
    }
    size_t done = 0;
    while (done < count) {
        ssize_t found = pread(file, memory + done, count - done, (off_t)done);
        if (found < 0 && errno == EINTR) continue;
        if (found < 0) *fault = WI_FILE_UNREADABLE;
        if (found <= 0) break;
        done += (size_t)found;
    }
    if (done == count) return memory;
    munmap(memory, count);
    return MAP_FAILED;
}

const void *wi_worker_map_file(int file, size_t count, int *fault) {
    struct stat facts;
    *fault = WI_FILE_SHORTENED;
    void *memory = MAP_FAILED;
    /* The C library's fstat() makes a system call that can look for files by name, which is not allowed. */
    if (count > 0 && syscall(SYS_fstat, file, &facts) == 0 && (uint64_t)facts.st_size >= count) {
        memory = mmap(NULL, count, PROT_READ, MAP_PRIVATE, file, 0);
        if (memory == MAP_FAILED) memory = read_file(file, count, fault);
    }
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

void wi_worker_unmap_file(const void *bytes, size_t count) { munmap((void *)bytes, count); }

void wi_worker_leave(int status) { _exit(status); }

#endif
