/* What a worker gives up before it sees a byte of a picture: files, network, processes, memory above a limit. */
#define _GNU_SOURCE
#include "CShimSandbox.h"

#if WI_HAS_WORKERS
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

int wi_worker_is_confined(void) { return !IS_SANITIZED; }

/* MARK: Limits */

/* A lower limit that the process was started with stays: it cannot be raised, and confines as well. */
static int set_limit(int which, rlim_t value) {
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0) return errno;
    if (value > limit.rlim_max) value = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = value;
    return setrlimit(which, &limit) == 0 ? 0 : errno;
}

/* At the lower limit comes SIGXCPU, which says why the process ends; at the upper one SIGKILL. */
static int limit_time(rlim_t seconds) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) != 0) return errno;
    if (limit.rlim_max > seconds + 1) limit.rlim_max = seconds + 1;
    limit.rlim_cur = limit.rlim_max > 1 ? limit.rlim_max - 1 : limit.rlim_max;
    return setrlimit(RLIMIT_CPU, &limit) == 0 ? 0 : errno;
}

/* How many bytes are mapped now: the program and its libraries. */
static uint64_t mapped_bytes(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 1ull << 30;
    int found = fscanf(file, "%llu", &pages);
    fclose(file);
    return found == 1 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 1ull << 30;
}

static int limit_resources(int options, uint64_t memory_limit) {
    int result = 0;
    /* Sanitizers reserve terabytes. Drawings run on stacks of up to a gigabyte, which is reserved and seldom used. */
    if (!IS_SANITIZED && memory_limit > 0) result = set_limit(RLIMIT_AS, mapped_bytes() + memory_limit + (1ull << 30));
    if (result == 0) result = set_limit(RLIMIT_CORE, 0);
    if (result == 0) result = set_limit(RLIMIT_NOFILE, 64);
    if (result == 0) result = set_limit(RLIMIT_FSIZE, 0);
    if (result == 0) result = set_limit(RLIMIT_MEMLOCK, 0);
    /* The host ends decodes that take too long; this limit is for a host that is stopped. Encoders may work for hours in all. */
    if (result == 0 && !(options & WI_WORKER_ENCODES)) result = limit_time(3600);
    return result;
}

/* MARK: Landlock (its numbers and structures are the kernel's; older headers do not have them) */

#define LANDLOCK_CREATE_RULESET 444
#define LANDLOCK_ADD_RULE 445
#define LANDLOCK_RESTRICT_SELF 446

enum { READ_FILE = 1 << 2, READ_DIRECTORY = 1 << 3 };

struct rules {
    uint64_t files, network, scopes;
};

struct path_rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

/* The folders of fonts and their configuration. */
static const char *const font_folders[] = {
    "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/poppler", "/usr/share/fontconfig", "/etc/fonts",
    "/var/cache/fontconfig", NULL};

static int lock_files(int options, int *version) {
    long found = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, 1);
    *version = 0;
    if (found <= 0) return 0;
    /* Thirteen rights in version 1, one more each in 2, 3 and 5. */
    int count = found >= 5 ? 16 : found >= 3 ? 15 : found >= 2 ? 14 : 13;
    struct rules rules = {.files = (1ull << count) - 1, .network = found >= 4 ? 3 : 0, .scopes = found >= 6 ? 3 : 0};
    size_t size = found >= 6 ? sizeof rules : found >= 4 ? 16 : 8;
    int set = (int)syscall(LANDLOCK_CREATE_RULESET, &rules, size, 0);
    if (set < 0) return errno;
    for (const char *const *path = font_folders; (options & WI_WORKER_READS_FONTS) && *path; path++) {
        struct path_rule rule = {READ_FILE | READ_DIRECTORY, open(*path, O_PATH | O_CLOEXEC)};
        if (rule.parent < 0) continue;
        syscall(LANDLOCK_ADD_RULE, set, 1, &rule, 0);
        close(rule.parent);
    }
    int result = syscall(LANDLOCK_RESTRICT_SELF, set, 0) == 0 ? 0 : errno;
    close(set);
    if (result == 0) *version = (int)found;
    return result;
}

/* MARK: Seccomp */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* System calls that every decoder may make, first those that every picture needs. */
static const int allowed[] = {
    SYS_recvmsg, SYS_sendmsg, SYS_recvfrom, SYS_futex, SYS_munmap, SYS_madvise, SYS_brk, SYS_mremap, SYS_ppoll, SYS_exit_group, SYS_exit,
    SYS_rt_sigreturn, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sigaltstack, SYS_restart_syscall, SYS_clock_gettime,
    SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getpid, SYS_gettid, SYS_getrandom,
    SYS_sched_yield, SYS_sched_getaffinity, SYS_getcpu, SYS_sysinfo, SYS_uname, SYS_getrusage, SYS_set_robust_list,
    SYS_rseq, SYS_read, SYS_pread64, SYS_write, SYS_writev, SYS_lseek, SYS_fstat, SYS_close, SYS_geteuid,
    SYS_getuid, SYS_getgid, SYS_getegid,
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
#ifdef SYS_time
    SYS_time,
#endif
};

/* Only decoders that draw text look for files. Landlock decides which files may be opened. */
static const int allowed_with_fonts[] = {
    SYS_newfstatat, SYS_statx, SYS_readlinkat, SYS_faccessat, SYS_faccessat2, SYS_getdents64, SYS_statfs, SYS_fstatfs,
    SYS_fadvise64, SYS_getcwd,
#ifdef SYS_stat
    SYS_stat, SYS_lstat, SYS_access, SYS_readlink,
#endif
};

/* Calls that no decoder ever makes: a process that tries them is killed. All other calls are answered as by an old kernel, so that
   a newer library falls back on what it did before. */
static const int deadly[] = {
    SYS_execve, SYS_execveat, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_io_uring_setup, SYS_bpf, SYS_userfaultfd, SYS_mount, SYS_umount2, SYS_unshare, SYS_setns,
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_perf_event_open, SYS_init_module, SYS_finit_module, SYS_kexec_load,
    SYS_reboot, SYS_chroot, SYS_pivot_root, SYS_pidfd_send_signal, SYS_pidfd_open, 438 /* pidfd_getfd */,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
#ifdef SYS_modify_ldt
    SYS_modify_ldt, SYS_iopl, SYS_ioperm,
#endif
};

enum { MOST = 512 };

typedef struct {
    struct sock_filter steps[MOST];
    unsigned short count;
} program;

static void add(program *p, unsigned short code, uint32_t value, unsigned char yes, unsigned char no) {
    if (p->count < MOST) p->steps[p->count++] = (struct sock_filter){code, yes, no, value};
}

static void load(program *p, size_t offset) { add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0); }

static void answer(program *p, uint32_t value) { add(p, BPF_RET | BPF_K, value, 0, 0); }

/* Answers the call `call` with `value`. */
static void rule(program *p, int call, uint32_t value) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
    answer(p, value);
}

enum {
    ALLOW = SECCOMP_RET_ALLOW,
    MISSING = SECCOMP_RET_ERRNO | ENOSYS,
    DENIED = SECCOMP_RET_ERRNO | EACCES,
};
#define DEADLY SECCOMP_RET_KILL_PROCESS

#define ARGUMENT(n) (offsetof(struct seccomp_data, args) + 8 * (n))
#define NUMBER offsetof(struct seccomp_data, nr)

/* Answers the call `call` with `with` if its argument has one of the bits, else with `without`. */
static void rule_by_bits(program *p, int call, int argument, uint32_t bits, uint32_t with, uint32_t without) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
    load(p, ARGUMENT(argument));
    add(p, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    answer(p, with);
    answer(p, without);
}

/* Answers the call `call` with `same` if its argument has this value, else with `other`. */
static void rule_by_value(program *p, int call, int argument, uint32_t value, uint32_t same, uint32_t other) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
    load(p, ARGUMENT(argument));
    add(p, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(p, same);
    answer(p, other);
}

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* What a decoder and its libraries may ask of a descriptor. With the other commands a process makes the kernel send signals to any
   process of its user when a message arrives (F_SETOWN, F_SETSIG, and O_ASYNC of F_SETFL). */
static const uint32_t allowed_controls[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC};

/* Answers the call `call` with `same` if its argument has one of the values, else with `other`. */
static void rule_by_values(
    program *p, int call, int argument, const uint32_t *values, unsigned char count, uint32_t same, uint32_t other) {
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, count + 3);
    load(p, ARGUMENT(argument));
    for (unsigned char i = 0; i < count; i++) add(p, BPF_JMP | BPF_JEQ | BPF_K, values[i], count - i, 0);
    answer(p, other);
    answer(p, same);
}

static void write_filter(program *p, int options) {
    load(p, offsetof(struct seccomp_data, arch));
    add(p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
    answer(p, DEADLY);
    load(p, NUMBER);
#if defined(__x86_64__)
    /* x32: the calls of the same kernel by other numbers. */
    add(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
    answer(p, DEADLY);
#endif
    for (size_t i = 0; i < COUNT(allowed); i++) rule(p, allowed[i], ALLOW);
    for (size_t i = 0; (options & WI_WORKER_READS_FONTS) && i < COUNT(allowed_with_fonts); i++) {
        rule(p, allowed_with_fonts[i], ALLOW);
    }
    for (size_t i = 0; i < COUNT(deadly); i++) rule(p, deadly[i], DEADLY);
    rule_by_values(p, SYS_fcntl, 1, allowed_controls, COUNT(allowed_controls), ALLOW, DENIED);
    rule_by_bits(p, SYS_mmap, 2, PROT_EXEC, DENIED, ALLOW);
    rule_by_bits(p, SYS_mprotect, 2, PROT_EXEC, DENIED, ALLOW);
    /* Threads are allowed, but no processes. clone3 has its flags in memory, where this filter cannot see them: it is answered as
       missing, and the C library uses clone. */
    add(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 5);
    load(p, ARGUMENT(0));
    add(p, BPF_ALU | BPF_AND | BPF_K, CLONE_THREAD | CLONE_VM, 0, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, CLONE_THREAD | CLONE_VM, 0, 1);
    answer(p, ALLOW);
    answer(p, DEADLY);
    /* abort() signals its own process. */
    rule_by_value(p, SYS_tgkill, 0, (uint32_t)getpid(), ALLOW, DEADLY);
    rule_by_value(p, SYS_prctl, 0, PR_SET_NAME, ALLOW, MISSING);
    /* Files may only be read, not created, truncated or written. */
    if (options & WI_WORKER_READS_FONTS) {
        rule_by_bits(p, SYS_openat, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, DENIED, ALLOW);
    } else {
        rule(p, SYS_openat, DENIED);
    }
    answer(p, MISSING);
}

static int filter_calls(int options) {
    static program p;
    write_filter(&p, options);
    if (p.count >= MOST) return E2BIG;
    struct sock_fprog filter = {.len = p.count, .filter = p.steps};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0 ? 0 : errno;
}

/* MARK: All of it */

/* Landlock and the filter apply only to the calling thread, and to threads that it starts later. So there must be no others. */
static int count_threads(void) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(threads));) count += entry->d_name[0] != '.';
    closedir(threads);
    return count;
}

/* Waits for a moment, because threads of a library that was warmed up may still be ending. */
static int has_one_thread(void) {
    for (int i = 0; i < 200; i++) {
        if (count_threads() == 1) return 1;
        usleep(1000);
    }
    return 0;
}

int wi_worker_confine(int options, uint64_t memory_limit, wi_confinement *done) {
    memset(done, 0, sizeof *done);
    if (!IS_SANITIZED && !has_one_thread()) return EBUSY;
    /* The worker is killed when the host's thread that started it ends. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
    if (prctl(PR_SET_DUMPABLE, 0) != 0) return errno;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    int result = limit_resources(options, memory_limit);
    if (result != 0) return result;
    if (!(options & WI_WORKER_WITHOUT_LANDLOCK)) {
        result = lock_files(options, &done->landlock);
        if (result != 0) return result;
    }
    if (options & WI_WORKER_WITHOUT_SECCOMP) return 0;
    /* A sanitizer makes system calls of its own. Such builds are for finding faults, and are not shipped. */
    if (IS_SANITIZED) {
        done->has_seccomp = 1;
        return 0;
    }
    result = filter_calls(options);
    done->has_seccomp = result == 0;
    /* If the kernel has no filters, the host is told, and decides. */
    return result == EINVAL || result == ENOSYS ? 0 : result;
}

#endif
