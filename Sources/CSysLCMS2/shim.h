#pragma once
#include <stdio.h>
#include <lcms2.h>
