#define _GNU_SOURCE
#include "CShimSystem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "Internal.h"

int wi_open_temporary(const char *directory) {
    int file = wi_open_nameless(directory, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    /* Not every file system supports files without names. Makes a file with a name, which is removed at once. */
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.webimage-XXXXXX", directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) unlink(path);
    return file;
}

int wi_exchange(int one_directory, const char *one, int other_directory, const char *other) {
    int result = wi_exchange_names(one_directory, one, other_directory, other);
    if (result != 0 && (errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOTSUP)) errno = EINVAL;
    return result;
}

long wi_write_both(
    int file, const void *head, size_t head_count, const void *tail, size_t tail_count, int64_t offset) {
    /* The bytes are only read, although `iov_base` is not const. */
    struct iovec parts[] = {
        {.iov_base = (void *)(uintptr_t)head, .iov_len = head_count},
        {.iov_base = (void *)(uintptr_t)tail, .iov_len = tail_count}};
    return pwritev(file, parts, 2, (off_t)offset);
}

static int fill(wi_status *status, int result, const struct stat *found) {
    if (result != 0) return result;
#ifdef __APPLE__
    struct timespec modified = found->st_mtimespec, accessed = found->st_atimespec;
#else
    struct timespec modified = found->st_mtim, accessed = found->st_atim;
#endif
    *status = (wi_status){
        .size = found->st_size, .modified = modified.tv_sec, .modified_nanoseconds = modified.tv_nsec,
        .accessed = accessed.tv_sec, .blocks = found->st_blocks, .device = found->st_dev, .inode = found->st_ino,
        .mode = found->st_mode, .owner = found->st_uid};
    return 0;
}

int wi_status_of(int file, wi_status *status) {
    struct stat found;
    return fill(status, fstat(file, &found), &found);
}

int wi_status_at(int directory, const char *name, int is_of_link, wi_status *status) {
    struct stat found;
    return fill(status, fstatat(directory, name, &found, is_of_link ? AT_SYMLINK_NOFOLLOW : 0), &found);
}

int wi_remove(int directory, const char *name) {
    if (unlinkat(directory, name, 0) == 0) return 0;
    /* Linux reports EISDIR itself; POSIX demands EPERM, which may have other reasons. */
    struct stat found;
    if (errno == EPERM) {
        int is_directory = fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
        errno = is_directory ? EISDIR : EPERM;
    }
    return -1;
}
