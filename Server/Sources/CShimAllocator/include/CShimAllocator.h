// The parts of glibc's allocator (mallopt(3)) that Swift cannot import.
#ifndef CSHIM_ALLOCATOR_H
#define CSHIM_ALLOCATOR_H

/// Limits the arenas of glibc's malloc, in which threads allocate without waiting for each other. Other allocators have none.
void wi_limit_arenas(int most);

#endif
