/* Stands between a process and the C library (LD_PRELOAD): counts writes, syncs and truncations of files whose path begins with a
   prefix, and at the k-th of them kills the process, tears the write, or says that the disk failed. Also knows which files have bytes
   that were written and not yet synced. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, TRUNCATE = 4 };
enum { COUNT = 0, KILL_BEFORE = 1, KILL_AFTER = 2, TEAR = 3, FAIL_IO = 4, FAIL_FULL = 5, SHORT_THEN_FULL = 6 };
enum { DATABASE, WAL, SHM, OTHER, KINDS };

static char prefix[PATH_MAX];
static int watched_ops, action, sticky;
static long target, seen, unsynced[KINDS], synced[KINDS];

void fault_arm(const char *path, int ops, long k, int what, int for_ever)
{
    snprintf(prefix, sizeof prefix, "%s", path);
    watched_ops = ops;
    target = k;
    action = what;
    sticky = for_ever;
    seen = 0;
    memset(unsynced, 0, sizeof unsynced);
    memset(synced, 0, sizeof synced);
}

void fault_disarm(void) { action = COUNT; }
long fault_seen(void) { return seen; }
long fault_unsynced(int kind) { return unsynced[kind]; }
long fault_synced(int kind) { return synced[kind]; }

static int ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* Which of our files a descriptor is, or -1. */
static int kind_of(int fd)
{
    char link[64], path[PATH_MAX];
    ssize_t length;
    if (!prefix[0]) return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path - 1);
    if (length < 0) return -1;
    path[length] = 0;
    if (strncmp(path, prefix, strlen(prefix)) != 0) return -1;
    if (ends_with(path, ".db")) return DATABASE;
    if (ends_with(path, "-wal")) return WAL;
    if (ends_with(path, "-shm")) return SHM;
    return OTHER;
}

/* Whether this call is the one; a sticky fault is every call from it on. */
static int strikes(int op)
{
    if (!(watched_ops & op)) return 0;
    seen++;
    return action != COUNT && (seen == target || (sticky && seen > target));
}

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

/* Returns 1 when the call must fail, with errno set. */
static int fails(int op)
{
    if (action == FAIL_IO) errno = EIO;
    else errno = op == WRITE ? ENOSPC : EIO;
    return 1;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define GUARDED_WRITE(CALL_WHOLE, CALL_HALF)                                                      \
    int kind = kind_of(fd), struck = kind >= 0 && strikes(WRITE);                                 \
    ssize_t done;                                                                                 \
    if (struck) {                                                                                 \
        if (action == KILL_BEFORE) die();                                                         \
        if (action == TEAR) { done = CALL_HALF; die(); }                                          \
        if (action == SHORT_THEN_FULL) { action = FAIL_FULL; sticky = 1; return CALL_HALF; }      \
        if (action == FAIL_IO || action == FAIL_FULL) { fails(WRITE); return -1; }                \
    }                                                                                             \
    done = CALL_WHOLE;                                                                            \
    if (kind >= 0 && done > 0) unsynced[kind]++;                                                  \
    if (struck && action == KILL_AFTER) die();                                                    \
    return done

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(write);
    GUARDED_WRITE(real(fd, data, size), real(fd, data, size / 2));
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    REAL(pwrite);
    GUARDED_WRITE(real(fd, data, size, at), real(fd, data, size / 2, at));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    REAL(pwrite64);
    GUARDED_WRITE(real(fd, data, size, at), real(fd, data, size / 2, at));
}

#define GUARDED(OP, CALL)                                                                         \
    int kind = kind_of(fd), struck = kind >= 0 && strikes(OP), done;                              \
    if (struck) {                                                                                 \
        if (action == KILL_BEFORE || action == TEAR) die();                                       \
        if (action >= FAIL_IO) { fails(OP); return -1; }                                          \
    }                                                                                             \
    done = CALL;                                                                                  \
    if (OP == SYNC && kind >= 0 && done == 0) { unsynced[kind] = 0; synced[kind]++; }             \
    if (struck && action == KILL_AFTER) die();                                                    \
    return done

int fsync(int fd) { REAL(fsync); GUARDED(SYNC, real(fd)); }
int fdatasync(int fd) { REAL(fdatasync); GUARDED(SYNC, real(fd)); }
int ftruncate(int fd, off_t size) { REAL(ftruncate); GUARDED(TRUNCATE, real(fd, size)); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); GUARDED(TRUNCATE, real(fd, size)); }
