#pragma once

/* librsvg is written in Rust and poppler in C++: what they throw when they give up would end the process at the first
   function of C or Swift. Here it becomes a result. Rust since 1.81 ends the process before it gets here. */

#ifdef __cplusplus
extern "C" {
#endif

/// Runs `work`. Returns -1 when it threw something; then what it worked on is not to be touched again, nor freed.
int wi_guard(void (*_Nonnull work)(void *_Nullable), void *_Nullable context);

#ifdef __cplusplus
}
#endif
