#pragma once
/* What Swift's Glibc module leaves out: GNU extensions and macros. */

/// Names the calling thread; longer names are cut to 15 bytes.
void wi_name_thread(const char *_Nonnull name);

/// Opens a file without a name in `directory`, close-on-exec, mode 0600. Returns -1 and sets errno.
int wi_open_temporary(const char *_Nonnull directory);

/// How many processors this process may run on (its affinity mask), at least 1.
int wi_processor_count(void);
