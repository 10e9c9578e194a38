#pragma once
#include <stddef.h>
/* What Swift's Glibc module leaves out: GNU extensions and macros. */

/// Names the calling thread; longer names are cut to 15 bytes.
void wi_name_thread(const char *_Nonnull name);

/// Opens a file without a name in `directory`, close-on-exec, mode 0600. Returns -1 and sets errno.
int wi_open_temporary(const char *_Nonnull directory);

/// Gives two files each other's names, in one step. Returns -1 and sets errno: EINVAL where the file system cannot.
int wi_exchange(
    int one_directory, const char *_Nonnull one, int other_directory, const char *_Nonnull other);

/// How many processors this process may run on (its affinity mask), at least 1.
int wi_processor_count(void);

/// Which processor this thread runs on just now; 0 where the system does not tell. It may be another one a moment later.
int wi_current_processor(void);

/// Asks a terminal a question and waits for its answer, "ESC [ ?", some text, then `last`. The terminal's settings are
/// changed meanwhile; they are as before afterwards, also when a signal ends or stops the process.
/// Returns the length of the text, which is not terminated; -1 without an answer in time, from what is no terminal, in
/// the background, or while another question is asked.
int wi_ask_terminal(
    int input, int output, const char *_Nonnull question, char last, int milliseconds, char *_Nonnull answer,
    int capacity);

/// Memory that is not cleared, at a multiple of 16 bytes; NULL where there is none, for which Swift's own allocation ends
/// the process. Given back by `wi_free`.
void *_Nullable wi_allocate(size_t count);
void wi_free(void *_Nullable memory);

/// Has the allocator give freed memory back to the system soon, for the whole process.
void wi_return_memory_early(void);

/// Gives free memory back to the system, where the C library keeps it. May take some milliseconds.
void wi_return_free_memory(void);

/// Runs `work` on a thread of its own with a stack of so many bytes, without waiting for it; memory is taken for the part
/// of the stack that is used only. Returns -1, and does not run it, when there is no such thread to be had.
int wi_start_on_stack(size_t stack, void *_Nullable (*_Nonnull work)(void *_Nullable), void *_Nullable context);
