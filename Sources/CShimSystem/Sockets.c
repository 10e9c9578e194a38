#include "CShimSystem.h"
#include <sys/socket.h>

int wi_stream_socket(void) { return wi_socket(AF_INET, SOCK_STREAM, 0); }
