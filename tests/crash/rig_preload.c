/* Faults below one path, for one kind of call; loaded into the worker by LD_PRELOAD.
 *
 * RIG_PATH  part of the path of the file (required)
 * RIG_CALL  write, sync or flock
 * RIG_FAULT short (half of the bytes), partial (half, then EIO), eintr, eio, enospc, enolck, slow
 * RIG_SECONDS how long the call takes before its fault
 * RIG_UNTIL a file: until it is there the call is held, however long that takes
 * RIG_WHEN  the n-th matching call, 0 for all of them
 * RIG_LOG   a file that gets one line per matching call: name, path, seconds
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int seen, partial_fd = -1;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

static int is(const char *name, const char *value) { return strcmp(setting(name), value) == 0; }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int watched(int fd, const char *call, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is("RIG_CALL", call) && *setting("RIG_PATH") && strstr(path, setting("RIG_PATH"));
}

static int due(void) {
    int when = atoi(setting("RIG_WHEN"));
    return ++seen == when || when == 0;
}

static void note(const char *call, const char *path, double seconds) {
    int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    ssize_t (*real_write)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    char line[4300];
    int fd = *setting("RIG_LOG") ? real_open(setting("RIG_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (fd < 0) return;
    int length = snprintf(line, sizeof line, "%s %s %.6f\n", call, path, seconds);
    if (real_write(fd, line, length) != length) abort();
    close(fd);
}

static int error_asked(void) {
    if (is("RIG_FAULT", "eio")) return EIO;
    if (is("RIG_FAULT", "eintr")) return EINTR;
    if (is("RIG_FAULT", "enospc")) return ENOSPC;
    if (is("RIG_FAULT", "enolck")) return ENOLCK;
    return 0;
}

static void take_time(void) {
    while (*setting("RIG_UNTIL") && access(setting("RIG_UNTIL"), F_OK)) usleep(2000);
    double seconds = atof(setting("RIG_SECONDS"));
    struct timespec pause = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
}

/* The number of bytes to really write, or -1 with errno set. */
static ssize_t allowed(int fd, size_t count) {
    char path[4096];
    if (fd == partial_fd) {
        partial_fd = -1;
        errno = EIO;
        return -1;
    }
    if (!watched(fd, "write", path, sizeof path)) return count;
    note("write", path, 0);
    if (!due()) return count;
    take_time();
    if (is("RIG_FAULT", "partial")) partial_fd = fd;
    if (is("RIG_FAULT", "partial") || is("RIG_FAULT", "short")) return count > 1 ? count / 2 : count;
    errno = error_asked();
    return errno ? -1 : (ssize_t)count;
}

ssize_t write(int fd, const void *data, size_t count) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    ssize_t size = allowed(fd, count);
    return size < 0 ? -1 : real(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t count, off64_t where) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    ssize_t size = allowed(fd, count);
    return size < 0 ? -1 : real(fd, data, size, where);
}

ssize_t pwrite(int fd, const void *data, size_t count, off_t where) { return pwrite64(fd, data, count, where); }

static int synced(int fd, const char *name) {
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    char path[4096];
    if (!watched(fd, "sync", path, sizeof path)) return real(fd);
    note(name, path, 0);
    if (!due()) return real(fd);
    take_time();
    errno = error_asked();
    return errno ? -1 : real(fd);
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

int flock(int fd, int operation) {
    int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
    char path[4096];
    if (!watched(fd, "flock", path, sizeof path) || operation == LOCK_UN) return real(fd, operation);
    if (due() && (errno = error_asked())) return -1;
    double began = now();
    int result = real(fd, operation);
    int error = errno;
    note(result ? "flock-refused" : "flock", path, now() - began);
    errno = error;
    return result;
}
