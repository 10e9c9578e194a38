/* For systems without workers. */
#include "CShimSandbox.h"

#if !WI_HAS_WORKERS
#include <errno.h>
#include <stdlib.h>

int wi_worker_can_be_this_program(void) { return 0; }

int wi_worker_find_program(char *path, size_t capacity) {
    (void)path, (void)capacity;
    return ENOENT;
}

int wi_worker_start(const char *path, int options, uint64_t memory_limit, size_t shared, wi_worker *worker) {
    (void)path, (void)options, (void)memory_limit, (void)shared, (void)worker;
    return ENOSYS;
}

int wi_worker_imitate(size_t shared, wi_worker *worker) {
    (void)shared, (void)worker;
    return -1;
}

void wi_end_of_packets(int socket) { (void)socket; }

void wi_close(int file) { (void)file; }

void wi_worker_kill(const wi_worker *worker) { (void)worker; }

wi_worker_end wi_worker_wait(const wi_worker *worker) {
    (void)worker;
    return (wi_worker_end){0};
}

void wi_worker_reap(wi_worker *worker) { (void)worker; }

void wi_worker_close(wi_worker *worker) { (void)worker; }

const char *wi_signal_name(int number) {
    (void)number;
    return "a signal";
}

int wi_message_send(int socket, const void *bytes, size_t count, int milliseconds) {
    (void)socket, (void)bytes, (void)count, (void)milliseconds;
    return ENOSYS;
}

void wi_message_set_timeout(int socket, int milliseconds) { (void)socket, (void)milliseconds; }

int wi_message_send_file(int socket, const void *bytes, size_t count, int file, int milliseconds) {
    (void)socket, (void)bytes, (void)count, (void)file, (void)milliseconds;
    return ENOSYS;
}

const void *wi_worker_map_file(int file, size_t count, int *fault) {
    (void)file, (void)count;
    *fault = WI_FILE_UNREADABLE;
    return NULL;
}

void wi_worker_unmap_file(const void *bytes, size_t count) { (void)bytes, (void)count; }

long wi_message_receive(int socket, void *bytes, size_t capacity, int microseconds, int *file) {
    (void)socket, (void)bytes, (void)capacity, (void)microseconds, (void)file;
    return WI_MESSAGE_CLOSED;
}

void *wi_worker_map(size_t *size) {
    *size = 0;
    return NULL;
}

int wi_worker_confine(int options, uint64_t memory_limit, wi_confinement *done) {
    (void)options, (void)memory_limit, (void)done;
    return ENOSYS;
}

int wi_worker_is_confined(void) { return 0; }

void wi_worker_add_hostile(void) {}

void wi_worker_leave(int status) { exit(status); }

#endif
