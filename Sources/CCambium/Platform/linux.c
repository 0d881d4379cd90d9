#ifdef __linux__
#define _GNU_SOURCE
#include "CCambiumPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

// MARK: Bytes

int cambium_sync_bytes(int descriptor) { return fdatasync(descriptor); }

int cambium_sync(int descriptor) { return fsync(descriptor); }

int cambium_allocate(int descriptor, int64_t size) {
  int error = posix_fallocate(descriptor, 0, size);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

void cambium_will_need(int descriptor, int64_t offset, int64_t count) {
  posix_fadvise(descriptor, offset, count, POSIX_FADV_WILLNEED);
}

int cambium_set_direct(int descriptor, int direct) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return -1;
  return fcntl(descriptor, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

int cambium_discard(void *memory, size_t count) {
  return madvise(memory, count, MADV_DONTNEED);
}

// The signal is sent to the thread that writes: it is held back there, and taken away if it was not waiting before.
ssize_t cambium_write_quietly(int descriptor, const void *bytes, size_t count) {
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  ssize_t written = write(descriptor, bytes, count);
  int error = errno;
  if (written < 0 && error == EPIPE && !was_pending) {
    struct timespec no_time = {0, 0};
    while (sigtimedwait(&broken_pipe, NULL, &no_time) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = error;
  return written;
}

// MARK: Locks

// All zeros but the type: from the beginning, to the end wherever that comes to be, and with the
// process left at 0, as the kernel demands of OFD locks.
static struct flock whole_file(void) {
  return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

int cambium_lock(int descriptor) {
  struct flock lock = whole_file();
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int cambium_unlock(int descriptor) {
  struct flock lock = whole_file();
  lock.l_type = F_UNLCK;
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int cambium_is_locked(int descriptor) {
  struct flock lock = whole_file();
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
  return lock.l_type != F_UNLCK;
}

int32_t cambium_lock_holder(int descriptor) {
  struct flock lock = whole_file();
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return 0;
  return lock.l_type == F_UNLCK || lock.l_pid < 0 ? 0 : lock.l_pid;
}

int cambium_lock_directory(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB);
}

int cambium_unlock_directory(int descriptor) {
  return flock(descriptor, LOCK_UN);
}

// MARK: Names

int cambium_path_flag(void) { return O_PATH; }

int cambium_file_system(int descriptor, uint32_t *magic, char name[16]) {
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return -1;
  *magic = (uint32_t)status.f_type;
  name[0] = 0;
  return 0;
}

// By number: not every C library has a name for the call.
static int rename_with(
  int directory, const char *name, int new_directory, const char *new_name, unsigned flags
) {
  return (int)syscall(SYS_renameat2, directory, name, new_directory, new_name, flags);
}

// Part of the kernel's interface, as RENAME_NOREPLACE and RENAME_EXCHANGE.
enum { rename_no_replace = 1 << 0, rename_exchange = 1 << 1 };

int cambium_rename_to_free(int directory, const char *name, int new_directory, const char *new_name) {
  return rename_with(directory, name, new_directory, new_name, rename_no_replace);
}

int cambium_exchange(int directory, const char *name, int other_directory, const char *other_name) {
  return rename_with(directory, name, other_directory, other_name, rename_exchange);
}

// MARK: Threads

void cambium_name_thread(const char *name) {
  char shortened[16] = {0};
  strncpy(shortened, name, sizeof shortened - 1);
  pthread_setname_np(pthread_self(), shortened);
}

void cambium_make_mutex(pthread_mutex_t *mutex) {
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
#else
  pthread_mutex_init(mutex, NULL);
#endif
}

void cambium_make_condition(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

int cambium_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  int64_t rest = deadline.tv_nsec + nanoseconds % 1000000000;
  deadline.tv_sec += nanoseconds / 1000000000 + rest / 1000000000;
  deadline.tv_nsec = rest % 1000000000;
  return pthread_cond_timedwait(condition, mutex, &deadline) != ETIMEDOUT;
}
#endif
