#define _GNU_SOURCE
#include "CShimSystem.h"
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#ifdef __APPLE__
/* On macOS libraries cannot access the variable `environ` itself. */
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#else
extern char **environ;
#endif

static int give(posix_spawn_file_actions_t *actions, int file, int number, int flags) {
    if (file >= 0) return posix_spawn_file_actions_adddup2(actions, file, number);
    return posix_spawn_file_actions_addopen(actions, number, "/dev/null", flags, 0);
}

int wi_spawn(char *const *words, int input, int output, int errors, int *process) {
    posix_spawn_file_actions_t actions;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) return result;
    result = give(&actions, input, 0, O_RDONLY);
    if (result == 0) result = give(&actions, output, 1, O_WRONLY);
    if (result == 0) result = give(&actions, errors, 2, O_WRONLY);
    if (result == 0) result = posix_spawn(process, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}
