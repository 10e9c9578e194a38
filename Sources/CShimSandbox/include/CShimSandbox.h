/* Worker processes, which decode in place of this process, and their confinement. Only on Linux with glibc; elsewhere no worker
   starts. */
#ifndef CSHIMSANDBOX_H
#define CSHIMSANDBOX_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__) && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(WI_PORTABLE)
#define WI_HAS_WORKERS 1
#else
#define WI_HAS_WORKERS 0
#endif

/* The file descriptors that a worker inherits. */
enum { WI_WORKER_SOCKET = 3, WI_WORKER_MEMORY = 4 };

/* The options of a worker. They are passed as a number in its second argument. */
enum {
    WI_WORKER_READS_FONTS = 1,
    /* For tests: as on kernels without seccomp or landlock. */
    WI_WORKER_WITHOUT_SECCOMP = 2,
    WI_WORKER_WITHOUT_LANDLOCK = 4,
    /* The worker has the coders whose libraries take long to load. */
    WI_WORKER_HAS_PHOTO_CODECS = 8,
    /* The worker encodes with the same libraries. */
    WI_WORKER_ENCODES = 16,
};

/* A worker as its host sees it. */
typedef struct {
    int process;
    /* The pidfd; -1 on kernels that have none (before 5.3). */
    int process_file;
    int socket;
    /* Shared with the worker; NULL if no worker runs. */
    void *memory;
    size_t memory_size;
} wi_worker;

/* Whether this build can start workers, and this code is part of the executable itself, so that another process of the executable
   can be a worker. */
int wi_worker_can_be_this_program(void);

/* Finds the path of `webimage-decoder` beside this program, or in ../libexec/webimage. Returns 0 or an errno. */
int wi_worker_find_program(char *path, size_t capacity);

/* Starts a worker with a socket and shared memory. The calling thread must outlive the worker, because the system kills the worker
   when that thread ends.
   path: the program; NULL: this one. options: as above.
   Returns 0 or an errno. */
int wi_worker_start(const char *path, int options, uint64_t memory_limit, size_t shared, wi_worker *worker);

/* For tests: makes memory and a socket without a process. Returns the other end of the socket, or -1. */
int wi_worker_imitate(size_t shared, wi_worker *worker);

/* For tests: ends the packets from this end. */
void wi_end_of_packets(int socket);

/* For tests: close(). */
void wi_close(int file);

/* Sends SIGKILL. Does nothing if the worker is gone. */
void wi_worker_kill(const wi_worker *worker);

/* How a process ended. */
typedef struct {
    /* 0 if another part of the program has reaped the process, or SIGCHLD is ignored, so that nobody learns how it ended. */
    int is_known;
    /* The signal that ended it; 0 if it exited by itself. */
    int signal;
    int status;
} wi_worker_end;

/* Waits until a worker that was killed has ended. Its process number is not used again until it is reaped. */
wi_worker_end wi_worker_wait(const wi_worker *worker);

/* Reaps a worker that has ended, and forgets its process number: the system may give that to another process, which must not be
   killed in its place. */
void wi_worker_reap(wi_worker *worker);

/* Closes socket and process file, and unmaps the memory. */
void wi_worker_close(wi_worker *worker);

/* The name of a signal, such as SIGSEGV. */
const char *wi_signal_name(int number);

enum { WI_MESSAGE_NONE = -1, WI_MESSAGE_CLOSED = -2 };

/* Sends one packet. Returns 0, an errno, or WI_MESSAGE_NONE if the other end did not accept it in time.
   milliseconds: how long to wait for that; -1: for ever. */
int wi_message_send(int socket, const void *bytes, size_t count, int milliseconds);

/* Sends one packet with an open file, of which the other end gets a descriptor of its own. */
int wi_message_send_file(int socket, const void *bytes, size_t count, int file, int milliseconds);

/* Sets how long wi_message_receive waits. */
void wi_message_set_timeout(int socket, int milliseconds);

/* Receives the next packet, truncated to the capacity. Returns its length, WI_MESSAGE_NONE if none came in time (or a signal
   came), or WI_MESSAGE_CLOSED.
   microseconds: how long to poll before the thread sleeps.
   file: receives the descriptor that came with the packet, or -1. NULL: descriptors that come are closed. */
long wi_message_receive(int socket, void *bytes, size_t capacity, int microseconds, int *file);

/* MARK: In a worker */

/* The confinement that is in force. */
typedef struct {
    int has_seccomp;
    /* The version of landlock's interface; 0: there is none. */
    int landlock;
} wi_confinement;

/* Maps the shared memory. Returns NULL if that fails. */
void *wi_worker_map(size_t *size);

/* Why a file cannot be mapped: it has fewer bytes than it had, the worker's memory is too small, or reading fails. */
enum { WI_FILE_SHORTENED, WI_FILE_TOO_LONG, WI_FILE_UNREADABLE };

/* Maps the first `count` bytes of a file read-only, or reads them if they cannot be mapped, and closes the file. Returns NULL if
   that fails, with the reason in `fault`. If the file is shortened later, an access to the missing part ends the process (SIGBUS).
   */
const void *wi_worker_map_file(int file, size_t count, int *fault);
void wi_worker_unmap_file(const void *bytes, size_t count);

/* Takes all rights from this process that decoding does not need. There must be only one thread.
   Returns 0, or an errno if a feature that the kernel has has failed. */
int wi_worker_confine(int options, uint64_t memory_limit, wi_confinement *done);

/* For tests: false in builds with a sanitizer, which makes system calls of its own and reserves terabytes. */
int wi_worker_is_confined(void);

/* The main program of a worker, which runs until the host has ended. Defined in WebImageCodecs. */
int wi_worker_serve(int options, uint64_t memory_limit);

/* Adds the hostile decoders of tests to those of a worker, if they are linked. */
void wi_worker_add_hostile(void);

/* Ends the worker with an exit status. */
void wi_worker_leave(int status) __attribute__((noreturn));

#endif
