/* Processes that decode in the place of this one, and their confinement. Only on Linux with glibc; elsewhere nothing starts. */
#ifndef CSHIMSANDBOX_H
#define CSHIMSANDBOX_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__) && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(WI_PORTABLE)
#define WI_HAS_WORKERS 1
#else
#define WI_HAS_WORKERS 0
#endif

/* The file descriptors that a worker finds. */
enum { WI_WORKER_SOCKET = 3, WI_WORKER_MEMORY = 4 };

/* How a worker is confined. Written as a number into its second argument. */
enum {
    WI_WORKER_READS_FONTS = 1,
    /* For tests: as on kernels that have not the one or the other. */
    WI_WORKER_WITHOUT_SECCOMP = 2,
    WI_WORKER_WITHOUT_LANDLOCK = 4,
    /* Which coders it has: those whose libraries take long to load. */
    WI_WORKER_HAS_PHOTO_CODECS = 8,
    /* It encodes with the same libraries. */
    WI_WORKER_ENCODES = 16,
};

/* A worker as its host sees it. */
typedef struct {
    int process;
    /* -1 on kernels without (before 5.3). */
    int process_file;
    int socket;
    /* Shared with the worker, NULL when nothing runs. */
    void *memory;
    size_t memory_size;
} wi_worker;

/* Whether this build can start workers, and this code belongs to the executable itself, so that another process of it is a
   worker too. */
int wi_worker_can_be_this_program(void);

/* The path of `webimage-decoder` beside this program, or in ../libexec/webimage. Gives 0, or an errno. */
int wi_worker_find_program(char *path, size_t capacity);

/* Starts a worker and gives it a socket and memory that is shared with it. The calling thread must outlive the worker: its end
   ends it.
   path: the program; NULL: this one. options: as above.
   Gives 0 or an errno. */
int wi_worker_start(const char *path, int options, uint64_t memory_limit, size_t shared, wi_worker *worker);

/* For tests: memory and a socket without a process. Gives the other end of the socket, or -1. */
int wi_worker_imitate(size_t shared, wi_worker *worker);

/* For tests: nothing more will be sent from this end. */
void wi_end_of_packets(int socket);

/* For tests: close(). */
void wi_close(int file);

/* SIGKILL. Nothing happens to one that is gone. */
void wi_worker_kill(const wi_worker *worker);

/* How a process ended. */
typedef struct {
    /* 0 when another part of the program has taken the answer, or nobody is told (SIGCHLD ignored). */
    int is_known;
    /* 0: by itself. */
    int signal;
    int status;
} wi_worker_end;

/* Waits until a worker that was killed has ended. Its number stays its own until it is reaped. */
wi_worker_end wi_worker_wait(const wi_worker *worker);

/* Gives the number of a worker that has ended back to the system, and forgets it: the next process may have it, which must not
   be killed in its place. */
void wi_worker_reap(wi_worker *worker);

/* Lets go of socket, memory and process file. */
void wi_worker_close(wi_worker *worker);

/* The name of a signal, such as SIGSEGV. */
const char *wi_signal_name(int number);

enum { WI_MESSAGE_NONE = -1, WI_MESSAGE_CLOSED = -2 };

/* One packet. Gives 0, or an errno, or WI_MESSAGE_NONE when the other end took nothing for so long.
   milliseconds: how long to wait then; -1: for ever. */
int wi_message_send(int socket, const void *bytes, size_t count, int milliseconds);

/* The same with an open file, of which the other end gets a descriptor of its own. */
int wi_message_send_file(int socket, const void *bytes, size_t count, int file, int milliseconds);

/* How long wi_message_receive waits. */
void wi_message_set_patience(int socket, int milliseconds);

/* The next packet, cut at the capacity: its length, or WI_MESSAGE_NONE when there was none for so long (or a signal came), or
   WI_MESSAGE_CLOSED.
   microseconds: for so long it is looked for again and again before the thread sleeps.
   file: the descriptor that came with it, or -1; NULL: such as come are closed. */
long wi_message_receive(int socket, void *bytes, size_t capacity, int microseconds, int *file);

/* MARK: In a worker */

/* What is in force. */
typedef struct {
    int has_seccomp;
    /* The version of landlock's interface; 0: there is none. */
    int landlock;
} wi_confinement;

/* Maps the shared memory. NULL when that fails. */
void *wi_worker_map(size_t *size);

/* Maps the first `count` bytes of a file, to be read only, or reads them where they cannot be mapped, and closes it. NULL when
   that fails, or there are fewer. Where the file is made shorter later, touching what is gone ends the process (SIGBUS). */
const void *wi_worker_map_file(int file, size_t count);
void wi_worker_unmap_file(const void *bytes, size_t count);

/* Takes everything away from this process that decoding does not need. There must be one thread.
   Gives 0, or an errno when something failed that the kernel has. */
int wi_worker_confine(int options, uint64_t memory_limit, wi_confinement *done);

/* For tests: false in builds with a sanitizer, which makes calls of its own and reserves terabytes. */
int wi_worker_is_confined(void);

/* What a worker does until its host has gone; in WebImageCodecs. */
int wi_worker_serve(int options, uint64_t memory_limit);

/* Adds the hostile decoders of tests to a worker's, where they are linked. */
void wi_worker_add_hostile(void);

/* An address that was asked for cannot be had: the worker ends. */
void wi_worker_leave(int status) __attribute__((noreturn));

#endif
