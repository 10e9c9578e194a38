#pragma once
#include <stdio.h>
#include <xxhash.h>
