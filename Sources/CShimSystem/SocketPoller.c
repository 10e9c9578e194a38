#include "CShimSystem.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int wi_poller_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

int wi_poller_make_alarm(int poller) {
    int alarm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    /* By its edge: each ring wakes, and nobody need read it. */
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = alarm};
    if (alarm < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, alarm, &event) == 0) return alarm;
    close(alarm);
    return -1;
}

void wi_poller_ring(int alarm) {
    uint64_t one = 1;
    ssize_t written;
    do written = write(alarm, &one, sizeof one);
    while (written < 0 && errno == EINTR);
}

int wi_poller_watch(int poller, int socket, int readiness) {
    struct epoll_event event = {.data.fd = socket};
    if (readiness & WI_POLLER_READABLE) event.events |= EPOLLIN;
    if (readiness & WI_POLLER_WRITABLE) event.events |= EPOLLOUT;
    if (epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event) == 0) return 0;
    return errno == ENOENT ? epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) : -1;
}

void wi_poller_forget(int poller, int socket) {
    struct epoll_event event = {0};
    epoll_ctl(poller, EPOLL_CTL_DEL, socket, &event);
}

int wi_poller_wait(int poller, wi_poller_event *events, int capacity, int milliseconds) {
    struct epoll_event ready[64];
    int most = capacity < 64 ? capacity : 64;
    int count = epoll_wait(poller, ready, most, milliseconds);
    for (int i = 0; i < count; i++) {
        events[i].socket = ready[i].data.fd;
        events[i].readiness = 0;
        if (ready[i].events & EPOLLIN) events[i].readiness |= WI_POLLER_READABLE;
        if (ready[i].events & EPOLLOUT) events[i].readiness |= WI_POLLER_WRITABLE;
    }
    return count < 0 ? 0 : count;
}
