#define _GNU_SOURCE
#include "CShimSystem.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The state of the signal handler, to which nothing can be passed. `is_asking` ensures that only one query runs at a time. */
static atomic_flag is_asking = ATOMIC_FLAG_INIT;
static struct termios settings_before;
static int terminal;

static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
enum { DEADLY_COUNT = sizeof deadly / sizeof *deadly };
static struct sigaction actions_before[DEADLY_COUNT];

/* Restores the terminal's settings, then lets the signal have its usual effect. */
static void leave(int number) {
    int kept = errno;
    tcsetattr(terminal, TCSANOW, &settings_before);
    for (int index = 0; index < DEADLY_COUNT; index++) {
        if (deadly[index] == number) sigaction(number, &actions_before[index], NULL);
    }
    raise(number);
    errno = kept;
}

static void watch_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = leave;
    sigfillset(&action.sa_mask);
    for (int index = 0; index < DEADLY_COUNT; index++) {
        sigaction(deadly[index], NULL, &actions_before[index]);
        if (actions_before[index].sa_handler != SIG_IGN) sigaction(deadly[index], &action, NULL);
    }
}

static void forget_signals(void) {
    for (int index = 0; index < DEADLY_COUNT; index++) sigaction(deadly[index], &actions_before[index], NULL);
}

static long milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads up to the byte that ends the answer. Text that a person typed before the answer is skipped. */
static int read_answer(int input, char last, int milliseconds, char *answer, int capacity) {
    static const char head[] = "\033[?";
    long end = milliseconds_now() + milliseconds;
    int count = 0;
    for (;;) {
        long left = end - milliseconds_now();
        struct pollfd waiting = {.fd = input, .events = POLLIN};
        int ready = left > 0 ? poll(&waiting, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return -1;
        char byte;
        ssize_t got = read(input, &byte, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return -1;
        if (count < 3) {
            // Matches the head, and starts again at a mismatch.
            count = byte == head[count] ? count + 1 : byte == head[0];
            continue;
        }
        if (byte == last) return count - 3;
        if (count - 3 >= capacity) return -1;
        answer[count++ - 3] = byte;
    }
}

int wi_ask_terminal(
    int input, int output, const char *question, char last, int milliseconds, char *answer, int capacity) {
    pid_t foreground = tcgetpgrp(input);
    // If the process is in the background, changing the terminal would stop it.
    if (foreground >= 0 && foreground != getpgrp()) return -1;
    if (atomic_flag_test_and_set(&is_asking)) return -1;
    int result = -1;
    if (tcgetattr(input, &settings_before) == 0) {
        terminal = input;
        watch_signals();
        struct termios raw = settings_before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        if (tcsetattr(input, TCSANOW, &raw) == 0) {
            size_t length = strlen(question);
            if (write(output, question, length) == (ssize_t)length) {
                result = read_answer(input, last, milliseconds, answer, capacity);
            }
            // A late answer, or the rest of an unexpected one, must not become the shell's input.
            tcsetattr(input, result < 0 ? TCSAFLUSH : TCSANOW, &settings_before);
        }
        forget_signals();
    }
    atomic_flag_clear(&is_asking);
    return result;
}
