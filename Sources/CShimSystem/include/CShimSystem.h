#pragma once
/* Where systems differ, and what Swift's module of the C library leaves out: one call for each, so that Swift asks for no
   system by its name.
   Without headers of the C library that have structures: Swift would take those for this module's. */
#include <stddef.h>
#include <stdint.h>

/// Whether Linux.c is compiled, and not Portable.c. WI_PORTABLE: to try the latter on Linux.
#if defined(__linux__) && !defined(WI_PORTABLE)
#define WI_IS_LINUX 1
#else
#define WI_IS_LINUX 0
#endif

/// Names the calling thread; longer names than 15 bytes may be cut.
void wi_name_thread(const char *_Nonnull name);

/// Lets other threads go first that have little to do, such as those that wait for the network: the calling thread then
/// computes for longer at a time. Its share of the processor stays the same. Threads and processes that it starts
/// inherit this. Does nothing where the system does not allow it, and on a thread with a scheduling policy of its own.
void wi_compute_in_long_turns(void);

/// Opens a file without a name in `directory`, close-on-exec, mode 0600. Returns -1 and sets errno.
int wi_open_temporary(const char *_Nonnull directory);

/// A file that has no name yet, close-on-exec. Returns -1 and sets errno, also where the file system has none such.
int wi_open_nameless(const char *_Nonnull directory, uint32_t mode);

/// Gives two files each other's names, in one step. Returns -1 and sets errno: EINVAL where the file system cannot.
int wi_exchange(
    int one_directory, const char *_Nonnull one, int other_directory, const char *_Nonnull other);

/// Writes two pieces, one after the other, from `offset` on. Returns how many bytes; -1 and sets errno.
long wi_write_both(
    int file, const void *_Nullable head, size_t head_count, const void *_Nullable tail, size_t tail_count,
    int64_t offset);

/// Opens a file like openat(2), from an open directory on; a symbolic link anywhere in `name` is refused with ELOOP, on
/// systems without such a call only at its end. Returns -1 and sets errno.
int wi_open_without_links(int directory, const char *_Nonnull name, int flags, uint32_t mode);

/// Opens a file for reading if its path can be walked without waiting for a disk. Returns -1 and sets errno, also where
/// there is no such call; a symbolic link is refused, anywhere in `name` where that starts from an open directory.
int wi_open_at_once(int directory, const char *_Nonnull name);

/// Reads what memory has of a file. Returns how many bytes; -1 and sets errno: EAGAIN where a disk must be waited for.
long wi_read_at_once(int file, void *_Nullable bytes, size_t count, int64_t offset);

/// Removes a file. Returns -1 and sets errno: EISDIR for a directory.
int wi_remove(int directory, const char *_Nonnull name);

/// Waits until a file's bytes are on the disk. Returns -1 and sets errno.
int wi_sync(int file);

/// What is known of a file without reading it; times in seconds since 1970.
typedef struct wi_status {
    int64_t size, modified, modified_nanoseconds, accessed;
    /// Of 512 bytes each.
    int64_t blocks;
    uint64_t inode;
    uint32_t mode, owner;
} wi_status;

/// Of an open file, and of a name from an open directory on, or of the symbolic link that has it. They return -1 and set
/// errno.
int wi_status_of(int file, wi_status *_Nonnull status);
int wi_status_at(int directory, const char *_Nonnull name, int is_of_link, wi_status *_Nonnull status);

/// An empty file that other parts of the process can open by the name that is put into `name`, in memory where the system
/// has such. Returns its descriptor, for writing, close-on-exec; -1 and sets errno.
int wi_memory_file(char *_Nonnull name, size_t capacity);
/// Closes it and takes its name away.
void wi_remove_memory_file(int file, const char *_Nonnull name);

/// A pipe, both ends close-on-exec. Returns -1 and sets errno.
int wi_pipe(int *_Nonnull ends);

/// Sockets are close-on-exec; sending on them by `wi_send` raises no SIGPIPE. They return -1 and set errno.
int wi_socket(int family, int type, int protocol);
/// For TCP over IPv4.
int wi_stream_socket(void);
int wi_accept(int listener);
long wi_send(int socket, const void *_Nullable bytes, size_t count);

/// A socket that becomes readable whenever an interface of the machine or one of its addresses changes; what is read from
/// it does not matter. -1 where the system tells nothing.
int wi_watch_network(void);
/// Whether the machine has an address besides those of the loopback and those for one link, on an interface that is up.
int wi_network_is_there(void);

/// What poll(2) is asked for to report that the other end of a connection has finished sending.
short wi_poll_finished_sending(void);

/// Starts a program: its path and arguments, NULL at the end, and descriptors of what its standard input, output and error
/// shall be; -1: nothing. Returns an error number.
int wi_spawn(char *_Nullable const *_Nonnull words, int input, int output, int errors, int *_Nonnull process);

/// How many processors this process may run on, at least 1.
int wi_processor_count(void);

/// Which processor this thread runs on just now; it may be another one a moment later. Where the system does not tell, a
/// number from 0 on that differs from thread to thread.
int wi_current_processor(void);

/// Asks a terminal a question and waits for its answer, "ESC [ ?", some text, then `last`. The terminal's settings are
/// changed meanwhile; they are as before afterwards, also when a signal ends or stops the process.
/// Returns the length of the text, which is not terminated; -1 without an answer in time, from what is no terminal, in
/// the background, or while another question is asked.
int wi_ask_terminal(
    int input, int output, const char *_Nonnull question, char last, int milliseconds, char *_Nonnull answer,
    int capacity);

/// Memory that is not cleared, at a multiple of 16 bytes, large blocks of large pages where the system has such (Linux:
/// `MADV_HUGEPAGE`); NULL where there is none, for which Swift's own allocation ends
/// the process. Given back by `wi_free`, which is told the same `count`.
void *_Nullable wi_allocate(size_t count);
void wi_free(void *_Nullable memory, size_t count);

/// Has the allocator give freed memory back to the system soon, for the whole process.
void wi_return_memory_early(void);

/// Gives free memory back to the system, where the C library keeps it. May take some milliseconds.
void wi_return_free_memory(void);

/// How many bytes of memory the machine has; 0 where the system does not tell.
int64_t wi_machine_memory(void);

/// Asks the system to back memory, whole pages of it, with large pages. A wish.
void wi_wish_for_large_pages(void *_Nonnull start, size_t count);

/// A condition whose waits are measured by the monotonic clock. NULL when there is no memory.
typedef struct wi_condition wi_condition;
wi_condition *_Nullable wi_make_condition(void);
void wi_destroy_condition(wi_condition *_Nonnull condition);
/// Wakes one thread that waits.
void wi_signal(wi_condition *_Nonnull condition);
/// Wakes all threads that wait.
void wi_signal_all(wi_condition *_Nonnull condition);
/// Waits for a signal with the mutex, a `pthread_mutex_t`, unlocked, for so many nanoseconds at most. 0 when it was woken.
int wi_wait_for(wi_condition *_Nonnull condition, void *_Nonnull mutex, int64_t nanoseconds);

/// Runs `work` on a thread of its own with a stack of so many bytes, without waiting for it; memory is taken for the part
/// of the stack that is used only. 0: the usual size. Returns -1, and does not run it, when there is no such thread to be had.
int wi_start_on_stack(size_t stack, void *_Nullable (*_Nonnull work)(void *_Nullable), void *_Nullable context);
