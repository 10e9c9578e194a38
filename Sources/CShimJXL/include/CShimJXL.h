#pragma once
/* Opens libjxl when it is first needed. */

/// Why libjxl cannot be opened; NULL when it is open, which it is after the first call. Any thread; valid for ever. No function of
/// libjxl may be called before.
const char *_Nullable wi_jxl_library_fault(void);
