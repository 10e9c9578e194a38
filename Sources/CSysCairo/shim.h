#pragma once
#include <cairo.h>
#include <gio/gio.h>
