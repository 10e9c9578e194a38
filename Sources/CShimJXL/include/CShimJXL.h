#pragma once
/* Opens libjxl when it is first needed. */

/// Opens libjxl at the first call. Returns NULL if it is open, else the reason, a string that stays valid. Any thread may call it.
/// No function of libjxl may be called before.
const char *_Nullable wi_jxl_library_fault(void);
