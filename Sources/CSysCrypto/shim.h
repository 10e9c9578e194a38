#pragma once
#include <stdio.h>
#include <openssl/evp.h>
