/*
 * Put before the C library (LD_PRELOAD), it makes one call to the system fail, or what comes after it too: of those that
 * touch something below the folder FAULT_ROOT. What to do stands in the file FAULT_CONTROL, which the program under test
 * and the test share (shim.mjs): both may change it while the program runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, BROKEN, FULL, INTERRUPTED, SHORT, STOP, KILL, TORN };

struct control {
  int32_t kind;   /* one of enum kind */
  int32_t at;     /* strikes at this call, counted from 1 */
  int32_t times;  /* and at so many in all from then on */
  int32_t calls;  /* how many there were */
  int32_t struck; /* how many were struck */
  char name[28];  /* the first call that was struck, and on what */
  char path[208];
};

static struct control *control;
static const char *root;

/* What a call is: whether it takes room on the disk decides what can go wrong with it. */
enum what { READS, TAKES_ROOM, WRITES, CHANGES };

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULT_CONTROL");
  root = getenv("FAULT_ROOT");
  int fd = path && root ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *shared = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (shared != MAP_FAILED) control = shared;
}

static int may(enum kind kind, enum what what) {
  switch (kind) {
    case NONE: return 0;
    case FULL: return what == TAKES_ROOM || what == WRITES;
    case INTERRUPTED: return what != CHANGES;
    case SHORT: case TORN: return what == WRITES;
    default: return 1;
  }
}

/* What becomes of a call: NONE where it goes on as it would. */
static enum kind strikes(const char *name, enum what what, const char *path) {
  if (!control || strncmp(path, root, strlen(root))) return NONE;
  int32_t call = __atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST);
  int32_t first = control->at;
  if (first <= 0 || call < first || !may(control->kind, what)) return NONE;
  if (control->struck >= control->times) return NONE;
  int32_t struck = __atomic_add_fetch(&control->struck, 1, __ATOMIC_SEQ_CST);
  if (struck == 1) {
    snprintf(control->name, sizeof control->name, "%s", name);
    snprintf(control->path, sizeof control->path, "%s", path);
  }
  /* Who writes on after a short write meets the full disk. */
  if (control->kind == SHORT && struck > 1) return FULL;
  if (control->kind == KILL) raise(SIGKILL);
  if (control->kind != STOP) return control->kind;
  raise(SIGSTOP);
  return NONE;
}

static enum kind strikes_fd(const char *name, enum what what, int fd) {
  char link[40], path[512];
  if (!control) return NONE;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return NONE;
  path[length] = 0;
  return strikes(name, what, path);
}

static int fails(enum kind kind) {
  if (kind == NONE) return 0;
  errno = kind == FULL ? ENOSPC : kind == INTERRUPTED ? EINTR : EIO;
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static enum what of_flags(int flags) { return flags & O_CREAT ? TAKES_ROOM : READS; }

#define OPEN(function)                                                              \
  int function(const char *path, int flags, ...) {                                  \
    va_list more;                                                                   \
    va_start(more, flags);                                                          \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;         \
    va_end(more);                                                                   \
    if (fails(strikes("open", of_flags(flags), path))) return -1;                   \
    return REAL(function)(path, flags, mode);                                       \
  }
OPEN(open)
OPEN(open64)

/* A write that comes short takes half; one that is torn takes half, and the process dies. */
#define WRITE(function, arguments, call)                                            \
  ssize_t function arguments {                                                      \
    enum kind kind = strikes_fd("write", WRITES, fd);                               \
    if (kind == SHORT || kind == TORN) size = size > 1 ? size / 2 : size;           \
    else if (fails(kind)) return -1;                                                \
    ssize_t count = REAL(function) call;                                            \
    if (kind == TORN) raise(SIGKILL);                                               \
    return count;                                                                   \
  }
WRITE(write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRITE(pwrite, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
WRITE(pwrite64, (int fd, const void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
WRITE(writev, (int fd, const struct iovec *bytes, int size), (fd, bytes, size))

#define CALL(type, function, how, what, where, arguments, call)                     \
  type function arguments {                                                         \
    if (fails(how(#function, what, where))) return -1;                              \
    return REAL(function) call;                                                     \
  }
CALL(ssize_t, read, strikes_fd, READS, fd, (int fd, void *bytes, size_t size), (fd, bytes, size))
CALL(ssize_t, pread, strikes_fd, READS, fd, (int fd, void *bytes, size_t size, off_t at), (fd, bytes, size, at))
CALL(ssize_t, pread64, strikes_fd, READS, fd, (int fd, void *bytes, size_t size, off64_t at), (fd, bytes, size, at))
CALL(int, fsync, strikes_fd, TAKES_ROOM, fd, (int fd), (fd))
CALL(int, fdatasync, strikes_fd, TAKES_ROOM, fd, (int fd), (fd))
CALL(int, fchmod, strikes_fd, CHANGES, fd, (int fd, mode_t mode), (fd, mode))
CALL(int, ftruncate64, strikes_fd, CHANGES, fd, (int fd, off64_t size), (fd, size))
CALL(int, chmod, strikes, CHANGES, path, (const char *path, mode_t mode), (path, mode))
CALL(int, mkdir, strikes, TAKES_ROOM, path, (const char *path, mode_t mode), (path, mode))
CALL(int, rmdir, strikes, CHANGES, path, (const char *path), (path))
CALL(int, unlink, strikes, CHANGES, path, (const char *path), (path))
CALL(int, rename, strikes, TAKES_ROOM, from, (const char *from, const char *to), (from, to))
CALL(int, link, strikes, TAKES_ROOM, to, (const char *from, const char *to), (from, to))
CALL(int, symlink, strikes, TAKES_ROOM, to, (const char *from, const char *to), (from, to))
