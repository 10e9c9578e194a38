#pragma once
#include <tiff.h>
#include <tiffio.h>
