#pragma once
/* Opens libavif when it is first needed. */

/// Opens libavif at the first call. Returns NULL if it is open, else the reason, a string that stays valid. Any thread may call
/// it. No function of libavif may be called before.
const char *_Nullable wi_avif_library_fault(void);
