#pragma once
/* Opens libavif when it is first needed. */

/// Why libavif cannot be opened; NULL when it is open, which it is after the first call. Any thread; valid for ever. No function
/// of libavif may be called before.
const char *_Nullable wi_avif_library_fault(void);
