#pragma once
#include <stddef.h>

/* Libraries that are opened when they are first needed, not linked: those of the heavier formats bring in seventy others, and
   loading them all takes longer than the rest of a program's start.

   Functions of those whose headers the build has are called by their names (CSysAVIF/Functions.h); `Trampolines.h` says how. The
   others are called through tables of pointers (CShimSVG/Functions.h). */

/// A function that is looked up, and where its address goes.
typedef struct {
    const char *_Nonnull name;
    void *_Nullable *_Nonnull address;
    /// Whether the library may be so old, or so new, that it has no such function. Its address is then NULL.
    int may_be_missing;
} wi_function;

/// Opens a library, by the first of its names that is there, and looks up functions in it and in those that it depends on. It
/// stays open for ever.
///
/// - Parameter names: ends with NULL.
/// - Returns: 0, or -1 with what is wrong in `message`.
int wi_library_open(
    const char *_Nullable const *_Nonnull names, const wi_function *_Nonnull functions, size_t count,
    char *_Nonnull message, size_t message_size);

/// What a function of a library that nobody has opened does: it says so and ends the process.
void wi_library_is_not_open(void);

/// Copies a library's message, on one line and as much of it as there is room for.
void wi_message_copy(char *_Nonnull output, size_t size, const char *_Nullable message);

/// A file's name for version `version` of a library.
#ifdef __APPLE__
#define WI_LIBRARY(name, version) "lib" name "." version ".dylib"
#else
#define WI_LIBRARY(name, version) "lib" name ".so." version
#endif

/* A list of functions, LIST(F, O), is turned into a table of pointers and what fills it. F is for a function that must be there,
   O for one that may be missing. The table is named by WI_TABLE. */

#define WI_POINTER(result, name, parameters) result(*name) parameters;
#define WI_LOOKUP(result, name, parameters) {#name, (void **)&WI_TABLE.name, 0},
#define WI_OPTIONAL_LOOKUP(result, name, parameters) {#name, (void **)&WI_TABLE.name, 1},
/// Fails to compile where the header has another type.
#define WI_SAME_TYPE(result, name, parameters) \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), result parameters), #name " has another type");
