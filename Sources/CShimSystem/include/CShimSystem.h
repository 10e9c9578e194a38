#pragma once
/* What Swift's Glibc module leaves out: GNU extensions and macros. */

/// Names the calling thread; longer names are cut to 15 bytes.
void wi_name_thread(const char *_Nonnull name);

/// Opens a file without a name in `directory`, close-on-exec, mode 0600. Returns -1 and sets errno.
int wi_open_temporary(const char *_Nonnull directory);

/// How many processors this process may run on (its affinity mask), at least 1.
int wi_processor_count(void);

/// Asks a terminal a question and waits for its answer, "ESC [ ?", some text, then `last`. The terminal's settings are
/// changed meanwhile; they are as before afterwards, also when a signal ends or stops the process.
/// Returns the length of the text, which is not terminated; -1 without an answer in time, from what is no terminal, in
/// the background, or while another question is asked.
int wi_ask_terminal(
    int input, int output, const char *_Nonnull question, char last, int milliseconds, char *_Nonnull answer,
    int capacity);
