#pragma once
/* Between the files of this shim. */

/// How many processors the machine has that are not switched off, at least 1.
int wi_online_processors(void);

/// A file that never had a name. Returns -1 and sets errno, also where the file system has none such.
int wi_open_nameless(const char *_Nonnull directory);

/// Returns -1 and sets errno, also where there is no such call.
int wi_exchange_names(
    int one_directory, const char *_Nonnull one, int other_directory, const char *_Nonnull other);
