#pragma once
#include "Functions.h"
#include <libheif/heif.h>
