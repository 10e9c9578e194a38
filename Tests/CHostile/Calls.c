#define _GNU_SOURCE
#include "CHostile.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int wi_try_socket(void) { return socket(AF_INET, SOCK_STREAM, 0); }

int wi_try_kill(int process) { return kill(process, 0); }

void wi_try_abort(void) { abort(); }

void wi_try_exit(void) { exit(0); }

void wi_try_sleep(void) { sleep(1); }

#ifdef __linux__
#include <sys/syscall.h>

int wi_try_memory_file(void) { return (int)syscall(SYS_memfd_create, "x", 0); }

int wi_try_fork(void) {
#ifdef SYS_fork
    return (int)syscall(SYS_fork);
#else
    return (int)syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);
#endif
}

int wi_try_trace(void) { return (int)syscall(SYS_ptrace, 0, 0, 0, 0); }

int wi_try_reading_others(int process) { return (int)syscall(SYS_process_vm_readv, process, 0, 0, 0, 0, 0); }

int wi_try_io_uring(void) { return (int)syscall(425, 1, 0); }

int wi_try_unshare(void) { return (int)syscall(SYS_unshare, 0); }

int wi_try_old_calls(void) {
#ifdef __x86_64__
    return (int)syscall(0x40000000 + 39);
#else
    return (int)syscall(SYS_socket, 1, 1, 0);
#endif
}

int wi_try_interrupt(void) {
#ifdef __x86_64__
    int answer = 20; /* getpid */
    __asm__ volatile("int $0x80" : "+a"(answer) : : "memory");
    return answer;
#else
    return (int)syscall(SYS_socket, 1, 1, 0);
#endif
}
#else
int wi_try_memory_file(void) { return 0; }
int wi_try_fork(void) { return 0; }
int wi_try_trace(void) { return 0; }
int wi_try_reading_others(int process) { return process; }
int wi_try_io_uring(void) { return 0; }
int wi_try_unshare(void) { return 0; }
int wi_try_old_calls(void) { return 0; }
int wi_try_interrupt(void) { return 0; }
#endif
