#pragma once
/* Which of the faster libraries are available. Both are optional: without them zlib does all. */
#ifndef WI_PORTABLE
#if __has_include(<isa-l/igzip_lib.h>)
#include <isa-l/igzip_lib.h>
#define WI_HAS_ISAL
#endif
#if __has_include(<libdeflate.h>)
#include <libdeflate.h>
#define WI_HAS_LIBDEFLATE
#endif
#endif
