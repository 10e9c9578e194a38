#pragma once

/* librsvg is written in Rust and poppler in C++. A panic or an exception in them would end the process at the first function of C
   or Swift. Here it becomes a result. Since Rust 1.81, a panic ends the process before it gets here. */

#ifdef __cplusplus
extern "C" {
#endif

/// Runs `work`. Returns 0, or -1 if it threw something: the objects that it worked on must then be neither used nor freed.
int wi_guard(void (*_Nonnull work)(void *_Nullable), void *_Nullable context);

#ifdef __cplusplus
}
#endif
