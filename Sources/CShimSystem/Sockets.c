#include "CShimSystem.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

int wi_stream_socket(void) { return wi_socket(AF_INET, SOCK_STREAM, 0); }

static int is_reachable(const struct ifaddrs *one) {
    if (!one->ifa_addr || (one->ifa_flags & IFF_LOOPBACK) || !(one->ifa_flags & IFF_UP) || !(one->ifa_flags & IFF_RUNNING)) return 0;
    if (one->ifa_addr->sa_family == AF_INET) return 1;
    if (one->ifa_addr->sa_family != AF_INET6) return 0;
    return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)one->ifa_addr)->sin6_addr);
}

int wi_network_is_available(void) {
    struct ifaddrs *all = NULL;
    // If this cannot be determined, the network is assumed to be there.
    if (getifaddrs(&all) != 0) return 1;
    int is_there = 0;
    for (const struct ifaddrs *one = all; one && !is_there; one = one->ifa_next) is_there = is_reachable(one);
    freeifaddrs(all);
    return is_there;
}
