#pragma once
#include "Functions.h"
#include <avif/avif.h>
