#pragma once
/* Intel's library that inflates fast; nothing where it is not installed. pkg-config says how it is linked. */
#if __has_include(<isa-l/igzip_lib.h>)
#include <isa-l/igzip_lib.h>
#endif
