#include "CShimGuard.h"
#include <csetjmp>

/* The handler is left by longjmp. At its end the exception would be deleted, and a panic of Rust ends the process if anything but
   Rust deletes it. So the exception's memory leaks, about a hundred bytes. */

int wi_guard(void (*work)(void *), void *context) {
    std::jmp_buf out;
    if (setjmp(out) != 0) return -1;
    try {
        work(context);
    } catch (...) {
        std::longjmp(out, 1);
    }
    return 0;
}
