#pragma once
/* The one-shot digests of libcrypto 3 allocate and look their algorithm up on every call, which costs more than hashing
   a key does; the functions below are "deprecated" in their favour, and not going to go within libcrypto 3. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <stdio.h>
#include <openssl/md5.h>
#include <openssl/sha.h>
