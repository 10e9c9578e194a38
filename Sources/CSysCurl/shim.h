#pragma once
#include <stdio.h>
#include <curl/curl.h>
