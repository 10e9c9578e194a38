#pragma once
/* One function for each call in which systems differ, and for each that Swift's module of the C library leaves out, so that
   Swift code need not ask which system it runs on. "Returns -1 and sets errno" tells what happens on failure.
   No headers of the C library that declare structures are included: Swift would attribute those to this module. */
#include <stddef.h>
#include <stdint.h>

/// Whether Linux.c is compiled instead of Portable.c. Define WI_PORTABLE to try Portable.c on Linux.
#if defined(__linux__) && !defined(WI_PORTABLE)
#define WI_IS_LINUX 1
#else
#define WI_IS_LINUX 0
#endif

/// Names the calling thread; names of more than 15 bytes may be cut.
void wi_name_thread(const char *_Nonnull name);

/// Makes the calling thread give way to threads that have little to do, such as those that wait for the network; in exchange it
/// computes for longer at a time. Its share of the processor stays the same. Threads and processes that it starts inherit this.
/// Does nothing if the system does not allow it, or if the thread has a scheduling policy of its own.
void wi_compute_in_long_turns(void);

/// Opens a file without a name in `directory`, close-on-exec, mode 0600. Returns -1 and sets errno.
int wi_open_temporary(const char *_Nonnull directory);

/// Takes room on the disk for the first `count` bytes of an open file, without changing its content or length. Returns ENOSPC or
/// EDQUOT if there is none, else 0, also where room cannot be taken ahead.
int wi_take_room(int file, int64_t count);

/// Opens a file that has no name yet, close-on-exec. Returns -1 and sets errno, also if the file system does not support such
/// files.
int wi_open_nameless(const char *_Nonnull directory, uint32_t mode);

/// Exchanges the names of two files in one step. Returns -1 and sets errno: EINVAL if the file system cannot do it.
int wi_exchange(
    int one_directory, const char *_Nonnull one, int other_directory, const char *_Nonnull other);

/// Writes two pieces, one after the other, from `offset` on. Returns the number of written bytes, or -1 and sets errno.
long wi_write_both(
    int file, const void *_Nullable head, size_t head_count, const void *_Nullable tail, size_t tail_count,
    int64_t offset);

/// Opens a file like openat(2), but refuses a symbolic link anywhere in `name` with ELOOP; systems without such a call refuse one
/// only at the end of `name`. Returns -1 and sets errno.
int wi_open_without_links(int directory, const char *_Nonnull name, int flags, uint32_t mode);

/// Opens a file for reading if its path can be resolved without waiting for a disk. Refuses a symbolic link at the end of `name`,
/// and if `directory` is an open directory, anywhere in `name`. Returns -1 and sets errno, also on systems without such a call.
int wi_open_at_once(int directory, const char *_Nonnull name);

/// Reads the bytes of a file that are in memory. Returns their number, or -1 and sets errno: EAGAIN if reading would wait for a
/// disk.
long wi_read_at_once(int file, void *_Nullable bytes, size_t count, int64_t offset);

/// Removes a file. Returns -1 and sets errno: EISDIR for a directory.
int wi_remove(int directory, const char *_Nonnull name);

/// Waits until a file's bytes are on the disk. Returns -1 and sets errno.
int wi_sync(int file);

/// The status of a file, from stat(2). Times are in seconds since 1970.
typedef struct wi_status {
    int64_t size, modified, modified_nanoseconds, accessed;
    /// Allocated blocks of 512 bytes.
    int64_t blocks;
    uint64_t device;
    uint64_t inode;
    uint32_t mode, owner;
} wi_status;

/// Read the status of an open file, and that of the file with a name, relative to an open directory; if `is_of_link` is not 0,
/// that of the symbolic link itself. Both return -1 and set errno.
int wi_status_of(int file, wi_status *_Nonnull status);
int wi_status_at(int directory, const char *_Nonnull name, int is_of_link, wi_status *_Nonnull status);

/// Makes an empty file that other parts of the process can open by name, in memory if the system supports that. Writes the name to
/// `name`. Returns a descriptor for writing, close-on-exec, or -1 and sets errno.
int wi_memory_file(char *_Nonnull name, size_t capacity);
/// Closes such a file and removes its name.
void wi_remove_memory_file(int file, const char *_Nonnull name);

/// Makes a pipe, both ends close-on-exec. Returns -1 and sets errno.
int wi_pipe(int *_Nonnull ends);

/// The sockets are close-on-exec, and `wi_send` raises no SIGPIPE. All return -1 and set errno.
int wi_socket(int family, int type, int protocol);
/// Makes a socket for TCP over IPv4.
int wi_stream_socket(void);
int wi_accept(int listener);
long wi_send(int socket, const void *_Nullable bytes, size_t count);

/// Returns a socket that becomes readable whenever a network interface of the machine or one of its addresses changes; what is
/// read from it does not matter. -1 if the system does not report changes.
int wi_watch_network(void);
/// Whether the machine has an address besides those of the loopback and IPv6 link-local ones, on an interface that is up.
int wi_network_is_available(void);

/// The poll(2) event that reports that the other end of a connection has finished sending.
short wi_poll_finished_sending(void);

/// Starts a program. `words` has its path and arguments, then NULL. `input`, `output` and `errors` become its standard streams; -1
/// stands for /dev/null. Returns 0 or an error number.
int wi_spawn(char *_Nullable const *_Nonnull words, int input, int output, int errors, int *_Nonnull process);

/// The number of processors that this process may use, at least 1.
int wi_processor_count(void);

/// The number of the processor that runs this thread now; it may change at any moment. If the system does not report it, a number
/// from 0 on that differs between threads.
int wi_current_processor(void);

/// Sends a query to a terminal and waits for its answer: "ESC [ ?", some text, then `last`. The terminal's settings are changed
/// meanwhile and restored afterwards, also if a signal ends or stops the process.
/// Returns the length of the text, which is not terminated; -1 if no answer arrives in time, `input` is not a terminal, the
/// process is in the background, or another query is running.
int wi_ask_terminal(
    int input, int output, const char *_Nonnull question, char last, int milliseconds, char *_Nonnull answer,
    int capacity);

/// Allocates memory that is not cleared, aligned to 16 bytes. Large blocks are made of large pages if the system has them (Linux:
/// `MADV_HUGEPAGE`). Returns NULL if there is no memory left; Swift's own allocation would end the process. Free it by `wi_free`
/// with the same `count`.
void *_Nullable wi_allocate(size_t count);
void wi_free(void *_Nullable memory, size_t count);

/// Makes the allocator return freed memory to the system soon, for the whole process.
void wi_return_memory_early(void);

/// Returns free memory that the C library keeps to the system. May take some milliseconds.
void wi_return_free_memory(void);

/// The memory of the machine in bytes; 0 if the system does not report it.
int64_t wi_machine_memory(void);

/// Asks the system to back the whole pages of a range of memory with large pages. The system may ignore this.
void wi_wish_for_large_pages(void *_Nonnull start, size_t count);

/// A condition variable whose waits use the monotonic clock. `wi_make_condition` returns NULL if there is no memory left.
typedef struct wi_condition wi_condition;
wi_condition *_Nullable wi_make_condition(void);
void wi_destroy_condition(wi_condition *_Nonnull condition);
/// Wakes one thread that waits.
void wi_signal(wi_condition *_Nonnull condition);
/// Wakes all threads that wait.
void wi_signal_all(wi_condition *_Nonnull condition);
/// Unlocks `mutex`, a `pthread_mutex_t`, waits for a signal, but at most so many nanoseconds, and locks it again. Returns 0 if it
/// was woken.
int wi_wait_for(wi_condition *_Nonnull condition, void *_Nonnull mutex, int64_t nanoseconds);

/// Runs `work` on a thread of its own, without waiting for it. `stack` is the size of its stack in bytes, of which only the used
/// part takes memory; 0: the usual size. Returns -1, and does not run `work`, if the system has no thread left.
int wi_start_on_stack(size_t stack, void *_Nullable (*_Nonnull work)(void *_Nullable), void *_Nullable context);
