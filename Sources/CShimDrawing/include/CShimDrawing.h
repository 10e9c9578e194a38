#pragma once
#include <stddef.h>

/* What SVG and PDF share: librsvg, poppler and what they stand on are opened at the first drawing, not linked. They are
   forty libraries, and loading them takes longer than all the rest of a program's start. */

/// A function that is looked up, and where its address goes in the table of functions.
typedef struct {
    const char *_Nonnull name;
    size_t offset;
    /// Whether the library may be so old, or so new, that it has no such function. Its address is then NULL.
    int may_be_missing;
} wi_function;

/// Opens a library and looks up functions in it and in those that it depends on. It stays open for ever.
///
/// Returns 0, or -1 with what is wrong in `message`.
int wi_library_open(
    const char *_Nonnull name, const wi_function *_Nonnull functions, size_t count, void *_Nonnull table,
    char *_Nonnull message, size_t message_size);

/// Copies a library's message, on one line and as much of it as there is room for.
void wi_message_copy(char *_Nonnull output, size_t size, const char *_Nullable message);

/// A file's name for version `version` of a library.
#ifdef __APPLE__
#define WI_LIBRARY(name, version) "lib" name "." version ".dylib"
#else
#define WI_LIBRARY(name, version) "lib" name ".so." version
#endif
