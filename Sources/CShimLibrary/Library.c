#include "CShimLibrary.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The folders of Homebrew's libraries, in which dyld does not look. */
#ifdef __APPLE__
static const char *const folders[] = {"", "/opt/homebrew/lib/", "/usr/local/lib/"};
#else
static const char *const folders[] = {""};
#endif

static void *open_library(const char *name) {
    for (size_t index = 0; index < sizeof folders / sizeof *folders; index += 1) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", folders[index], name);
        void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        if (library != NULL) return library;
    }
    return NULL;
}

int wi_library_open(
    const char *const *names, const wi_function *functions, size_t count, char *message, size_t message_size) {
    void *library = NULL;
    for (const char *const *name = names; library == NULL && *name != NULL; name += 1) {
        library = open_library(*name);
        const char *reason = library == NULL ? dlerror() : NULL;
        /* The message is about the first name, which is the one that should exist. */
        if (reason != NULL && name == names) wi_message_copy(message, message_size, reason);
    }
    if (library == NULL) return -1;
    for (size_t index = 0; index < count; index += 1) {
        void *address = dlsym(library, functions[index].name);
        if (address == NULL && !functions[index].may_be_missing) {
            snprintf(message, message_size, "%s has no function %s", names[0], functions[index].name);
            return -1;
        }
        *functions[index].address = address;
    }
    return 0;
}

void wi_library_is_not_open(void) {
    fputs("a function of a library is called that was not opened\n", stderr);
    abort();
}

void wi_message_copy(char *output, size_t size, const char *message) {
    snprintf(output, size, "%s", message != NULL ? message : "no message");
    for (char *letter = output; *letter != 0; letter += 1) {
        if (*letter == '\r' || *letter == '\n') *letter = ' ';
    }
    for (size_t length = strlen(output); length > 0 && output[length - 1] == ' '; length -= 1) output[length - 1] = 0;
}
