#pragma once
/* Functions that the files of this shim share. */

/// The number of processors that are switched on, at least 1.
int wi_online_processors(void);

/// Like `wi_exchange`, with the system's own error numbers. Returns -1 and sets errno, also if there is no such call.
int wi_exchange_names(
    int one_directory, const char *_Nonnull one, int other_directory, const char *_Nonnull other);
