/* The host's side: starting, ending, messages. */
#define _GNU_SOURCE
#include "CShimSandbox.h"

#if WI_HAS_WORKERS
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* MARK: Is this code the program's own? */

typedef struct {
    uintptr_t address;
    int objects;
    int found;
} search;

static int look_into(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    search *s = context;
    /* The program itself comes first. */
    if (s->objects++ > 0) return 1;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && s->address >= start && s->address - start < part->p_memsz) s->found = 1;
    }
    return 0;
}

int wi_worker_can_be_this_program(void) {
    search s = {.address = (uintptr_t)&wi_worker_can_be_this_program};
    dl_iterate_phdr(look_into, &s);
    return s.found;
}

int wi_worker_find_program(char *path, size_t capacity) {
    static const char *const places[] = {"webimage-decoder", "../libexec/webimage/webimage-decoder", NULL};
    char own[4096];
    ssize_t count = readlink("/proc/self/exe", own, sizeof own - 1);
    if (count <= 0) return errno;
    own[count] = 0;
    char *end = strrchr(own, '/');
    if (!end) return ENOENT;
    end[1] = 0;
    for (const char *const *place = places; *place; place++) {
        int length = snprintf(path, capacity, "%s%s", own, *place);
        if (length > 0 && (size_t)length < capacity && access(path, X_OK) == 0) return 0;
    }
    return ENOENT;
}

/* MARK: Starting */

/* Moves a descriptor above the numbers of those that the worker inherits. */
static int moved_up(int file) {
    if (file < 0) return -1;
    int copy = fcntl(file, F_DUPFD_CLOEXEC, 16);
    int reason = errno;
    close(file);
    errno = reason;
    return copy;
}

static int make_memory(size_t size) {
    int file = moved_up(memfd_create("webimage-decoder", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file < 0) return -1;
    /* Sealed, so that nobody can shorten the memory, which would end this process by SIGBUS. */
    if (ftruncate(file, (off_t)size) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) return file;
    int reason = errno;
    close(file);
    errno = reason;
    return -1;
}

/* The environment of a worker. Of ours it gets only where libraries are, because other variables should not change what the
   libraries draw. */
static const char *const environment[] = {
    "LANG=C.UTF-8", "HOME=/nonexistent", "MALLOC_ARENA_MAX=1", "RAYON_NUM_THREADS=1", "GIO_USE_VFS=local",
    "GIO_MODULE_DIR=/nonexistent", "GSETTINGS_BACKEND=memory", "SWIFT_BACKTRACE=enable=no",
    /* Memory that one picture frees is used by the next one, without a new request to the system. Idle workers return it to the
       system. */
    "MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=536870912", NULL};

extern char **environ;

static int spawn(const char *path, char *const *words, int socket, int memory, int *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) return result;
    result = posix_spawnattr_init(&attributes);
    if (result != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return result;
    }
    char *variables[sizeof environment / sizeof environment[0] + 1] = {0};
    size_t count = 0;
    for (; environment[count]; count++) variables[count] = (char *)environment[count];
    for (char **own = environ; own && *own; own++) {
        if (strncmp(*own, "LD_LIBRARY_PATH=", 16) == 0) {
            variables[count] = *own;
            break;
        }
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    if (result == 0) result = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    if (result == 0) result = posix_spawn_file_actions_adddup2(&actions, 0, 1);
    if (result == 0) result = posix_spawn_file_actions_adddup2(&actions, 0, 2);
    if (result == 0) result = posix_spawn_file_actions_adddup2(&actions, socket, WI_WORKER_SOCKET);
    if (result == 0) result = posix_spawn_file_actions_adddup2(&actions, memory, WI_WORKER_MEMORY);
    if (result == 0) result = posix_spawn(process, path, &actions, &attributes, words, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

int wi_worker_start(const char *path, int options, uint64_t memory_limit, size_t shared, wi_worker *worker) {
    memset(worker, 0, sizeof *worker);
    worker->process = worker->process_file = worker->socket = -1;
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    int here = moved_up(ends[0]);
    int there = moved_up(ends[1]);
    int memory = make_memory(shared);
    void *mapped = memory < 0 ? MAP_FAILED : mmap(NULL, shared, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    int result = here < 0 || there < 0 || mapped == MAP_FAILED ? errno : 0;
    if (result == 0) {
        char option[16], limit[24];
        snprintf(option, sizeof option, "%d", options);
        snprintf(limit, sizeof limit, "%llu", (unsigned long long)memory_limit);
        char *words[] = {"webimage-decoder", option, limit, NULL};
        result = spawn(path ? path : "/proc/self/exe", words, there, memory, &worker->process);
    }
    if (there >= 0) close(there);
    if (memory >= 0) close(memory);
    if (result != 0) {
        if (here >= 0) close(here);
        if (mapped != MAP_FAILED) munmap(mapped, shared);
        worker->process = -1;
        return result;
    }
    worker->socket = here;
    worker->memory = mapped;
    worker->memory_size = shared;
    worker->process_file = moved_up((int)syscall(SYS_pidfd_open, worker->process, 0));
    return 0;
}

int wi_worker_imitate(size_t shared, wi_worker *worker) {
    memset(worker, 0, sizeof *worker);
    worker->process = worker->process_file = worker->socket = -1;
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    void *memory = mmap(NULL, shared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    worker->socket = ends[0];
    worker->memory = memory;
    worker->memory_size = shared;
    return ends[1];
}

void wi_end_of_packets(int socket) { shutdown(socket, SHUT_WR); }

void wi_close(int file) { close(file); }

/* MARK: Ending */

void wi_worker_kill(const wi_worker *worker) {
    if (worker->process <= 0) return;
    if (worker->process_file >= 0) {
        syscall(SYS_pidfd_send_signal, worker->process_file, SIGKILL, NULL, 0);
    } else {
        kill(worker->process, SIGKILL);
    }
}

static int wait_for(const wi_worker *worker, siginfo_t *info, int options) {
    memset(info, 0, sizeof *info);
    int result;
    do {
        /* 3: P_PIDFD, which older headers do not name. */
        result = worker->process_file >= 0 ? waitid((idtype_t)3, (id_t)worker->process_file, info, options)
                                           : waitid(P_PID, (id_t)worker->process, info, options);
    } while (result != 0 && errno == EINTR);
    return result;
}

wi_worker_end wi_worker_wait(const wi_worker *worker) {
    wi_worker_end end = {0};
    if (worker->process <= 0) return end;
    siginfo_t info;
    int result = wait_for(worker, &info, WEXITED | WNOWAIT);
    if (result != 0 || info.si_pid == 0) return end;
    end.is_known = 1;
    if (info.si_code == CLD_EXITED) {
        end.status = info.si_status;
    } else {
        end.signal = info.si_status;
    }
    return end;
}

void wi_worker_reap(wi_worker *worker) {
    if (worker->process <= 0) return;
    siginfo_t info;
    (void)wait_for(worker, &info, WEXITED | WNOHANG);
    worker->process = -1;
}

void wi_worker_close(wi_worker *worker) {
    if (worker->socket >= 0) close(worker->socket);
    if (worker->process_file >= 0) close(worker->process_file);
    if (worker->memory) munmap(worker->memory, worker->memory_size);
    worker->socket = worker->process_file = worker->process = -1;
    worker->memory = NULL;
}

const char *wi_signal_name(int number) {
    switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    case SIGTRAP: return "SIGTRAP";
    case SIGKILL: return "SIGKILL";
    case SIGSYS: return "SIGSYS";
    case SIGXCPU: return "SIGXCPU";
    case SIGXFSZ: return "SIGXFSZ";
    case SIGTERM: return "SIGTERM";
    default: return "a signal";
    }
}

/* MARK: Messages */

/* Room for one descriptor that is sent with a packet. */
typedef union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
} file_beside;

static int send_message(int socket, struct msghdr message, int milliseconds) {
    int flags = MSG_NOSIGNAL | (milliseconds >= 0 ? MSG_DONTWAIT : 0);
    for (int has_waited = 0; sendmsg(socket, &message, flags) < 0;) {
        if (errno == EINTR) continue;
        if (errno != EAGAIN || milliseconds < 0) return errno;
        if (has_waited) return WI_MESSAGE_NONE;
        struct pollfd wait = {.fd = socket, .events = POLLOUT};
        poll(&wait, 1, milliseconds);
        has_waited = 1;
    }
    return 0;
}

int wi_message_send(int socket, const void *bytes, size_t count, int milliseconds) {
    struct iovec part = {(void *)bytes, count};
    return send_message(socket, (struct msghdr){.msg_iov = &part, .msg_iovlen = 1}, milliseconds);
}

int wi_message_send_file(int socket, const void *bytes, size_t count, int file, int milliseconds) {
    struct iovec part = {(void *)bytes, count};
    file_beside beside;
    memset(&beside, 0, sizeof beside);
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = beside.room, .msg_controllen = sizeof beside.room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
    return send_message(socket, message, milliseconds);
}

void wi_message_set_timeout(int socket, int milliseconds) {
    struct timeval timeout = {milliseconds / 1000, milliseconds % 1000 * 1000};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
}

static int64_t nanoseconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* Receives a packet. Without room for a descriptor, the kernel closes one that was sent. */
static ssize_t receive(int socket, void *bytes, size_t capacity, int flags, int *file) {
    if (file == NULL) return recv(socket, bytes, capacity, flags);
    struct iovec part = {bytes, capacity};
    file_beside beside;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = beside.room, .msg_controllen = sizeof beside.room};
    *file = -1;
    ssize_t count = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    struct cmsghdr *head = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head != NULL && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof *file)) {
        memcpy(file, CMSG_DATA(head), sizeof *file);
    }
    return count;
}

long wi_message_receive(int socket, void *bytes, size_t capacity, int microseconds, int *file) {
    ssize_t count = -1;
    if (microseconds > 0) {
        int64_t end = nanoseconds_now() + microseconds * 1000ll;
        do {
            count = receive(socket, bytes, capacity, MSG_DONTWAIT, file);
        } while (count < 0 && errno == EAGAIN && nanoseconds_now() < end);
    }
    if (count < 0) count = receive(socket, bytes, capacity, 0, file);
    if (count > 0) return count;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? WI_MESSAGE_NONE : WI_MESSAGE_CLOSED;
}

#endif
