#define _GNU_SOURCE
#include "CCambiumSyscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

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

int cambium_lock_directory(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB);
}

int cambium_unlock_directory(int descriptor) {
  return flock(descriptor, LOCK_UN);
}

int32_t cambium_lock_holder(int descriptor) {
  struct flock lock = whole_file();
  if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return 0;
  return lock.l_type == F_UNLCK || lock.l_pid < 0 ? 0 : lock.l_pid;
}

int64_t cambium_file_system_magic(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (int64_t)(uint32_t)status.f_type : -1;
}

int cambium_set_direct(int descriptor, int direct) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return -1;
  return fcntl(descriptor, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

int cambium_path_flag(void) { return O_PATH; }

int cambium_rename_to_free(int directory, const char *name, int new_directory, const char *new_name) {
  return renameat2(directory, name, new_directory, new_name, RENAME_NOREPLACE);
}

int cambium_exchange(int directory, const char *name, int other_directory, const char *other_name) {
  return renameat2(directory, name, other_directory, other_name, RENAME_EXCHANGE);
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
