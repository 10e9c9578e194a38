#pragma once
#include "CShimLibrary.h"

/* Calls of a library's function NAME are compiled as calls of wi_NAME (`#pragma redefine_extname`, in the Functions.h of its
   module). That function is a jump to the address in wi_slot_NAME, which is stored there when the library is opened, as for a call
   of any shared library. In C there is no other way without the types of all arguments. */

#if defined(__x86_64__)
#define WI_JUMP(name) "jmp *wi_slot_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define WI_JUMP(name) "adrp x16, wi_slot_" #name "\nldr x16, [x16, :lo12:wi_slot_" #name "]\nbr x16\n"
#else
#error "This processor needs a jump of its own: one instruction or two that leave all arguments as they are."
#endif

#define WI_TRAMPOLINE(name) \
    __attribute__((visibility("hidden"))) void *wi_slot_##name = (void *)wi_library_is_not_open; \
    __asm__( \
        ".text\n.balign 16\n.globl wi_" #name "\n.hidden wi_" #name "\n.type wi_" #name ", %function\n" \
        "wi_" #name ":\n" WI_JUMP(name) ".size wi_" #name ", .-wi_" #name "\n");

#define WI_SLOT(name) {#name, &wi_slot_##name, 0},
