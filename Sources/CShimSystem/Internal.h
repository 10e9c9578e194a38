#pragma once
/* Between the files of this shim. */

/// How many processors the machine has that are not switched off, at least 1.
int wi_online_processors(void);

/// Returns -1 and sets errno, also where there is no such call.
int wi_exchange_names(
    int one_directory, const char *_Nonnull one, int other_directory, const char *_Nonnull other);
