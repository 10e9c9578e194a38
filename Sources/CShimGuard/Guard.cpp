#include "CShimGuard.h"
#include <csetjmp>

/* The handler is never left the usual way: at its end an exception is deleted, and Rust's ends the process when anybody
   but Rust does that. So what was thrown is lost memory, a hundred bytes. */

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
