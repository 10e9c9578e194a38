#pragma once
/* The library that deflates whole buffers fast; nothing where it is not installed. pkg-config says how it is linked. */
#if __has_include(<libdeflate.h>)
#include <libdeflate.h>
#endif
