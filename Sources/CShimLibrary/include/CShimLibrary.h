#pragma once
#include <stddef.h>

/* Libraries that are opened when they are first needed, not linked: those of the heavier formats bring in seventy others, and
   loading them all takes longer than the rest of a program's start.

   Functions of those whose headers the build has are called by their names (CSysAVIF/Functions.h); `Trampolines.h` says how. The
   others are called through tables of pointers (CShimSVG/Functions.h). */

/// A function that is looked up, and where its address is stored.
typedef struct {
    const char *_Nonnull name;
    void *_Nullable *_Nonnull address;
    /// Whether the library may be so old, or so new, that it has no such function. Its address is then NULL.
    int may_be_missing;
} wi_function;

/// Opens a library by the first of its names that exists, and looks up functions in it and in the libraries that it depends on. It
/// stays open as long as the process lives.
///
/// - Parameter names: ends with NULL.
/// - Returns: 0, or -1 with the reason in `message`.
int wi_library_open(
    const char *_Nullable const *_Nonnull names, const wi_function *_Nonnull functions, size_t count,
    char *_Nonnull message, size_t message_size);

/// Called in place of a function of a library that was not opened: prints a message, and aborts the process.
void wi_library_is_not_open(void);

/// Copies a library's message, on one line and as much of it as there is room for.
void wi_message_copy(char *_Nonnull output, size_t size, const char *_Nullable message);

/// The name of the file of version `version` of a library.
#ifdef __APPLE__
#define WI_LIBRARY(name, version) "lib" name "." version ".dylib"
#else
#define WI_LIBRARY(name, version) "lib" name ".so." version
#endif

/* These macros turn a list of functions, LIST(F, O), into a table of pointers, and into the lookups that fill it. F is for a
   function that must exist, O for one that may be missing. WI_TABLE is the name of the table. */

#define WI_POINTER(result, name, parameters) result(*name) parameters;
#define WI_LOOKUP(result, name, parameters) {#name, (void **)&WI_TABLE.name, 0},
#define WI_OPTIONAL_LOOKUP(result, name, parameters) {#name, (void **)&WI_TABLE.name, 1},
/// Fails to compile where the header has another type.
#define WI_SAME_TYPE(result, name, parameters) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), result parameters), #name " has another type");
