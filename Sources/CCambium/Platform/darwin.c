#ifdef __APPLE__
#include "CCambiumPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: Bytes

// `fsync` hands the bytes to the drive, which may keep them in its own memory; this has the drive write them. File systems
// that cannot ask their drive for it say so by one of these errors.
int cambium_sync(int descriptor) {
  if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
  if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY) return -1;
  return fsync(descriptor);
}

int cambium_sync_bytes(int descriptor) { return cambium_sync(descriptor); }

// In one piece if the file system has one, else in several. File systems that cannot allocate (EINVAL, ENOTSUP) are told the
// size alone: then a full disk is only noticed when the file is written.
int cambium_allocate(int descriptor, int64_t size) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return -1;
  int64_t missing = size - (int64_t)status.st_blocks * 512;
  if (missing > 0) {
    fstore_t space = {
      .fst_flags = F_ALLOCATECONTIG | F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = missing,
    };
    int failed = fcntl(descriptor, F_PREALLOCATE, &space);
    if (failed) {
      space.fst_flags = F_ALLOCATEALL;
      failed = fcntl(descriptor, F_PREALLOCATE, &space);
    }
    if (failed && errno != EINVAL && errno != ENOTSUP) return -1;
  }
  return status.st_size < size ? ftruncate(descriptor, size) : 0;
}

void cambium_will_need(int descriptor, int64_t offset, int64_t count) {
  struct radvisory range = {.ra_offset = offset, .ra_count = (int)count};
  fcntl(descriptor, F_RDADVISE, &range);
}

int cambium_set_direct(int descriptor, int direct) {
  return fcntl(descriptor, F_NOCACHE, direct);
}

// `madvise` may keep the bytes: so new memory takes their place.
int cambium_discard(void *memory, size_t count) {
  void *mapped = mmap(
    memory, count, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? -1 : 0;
}

// The signal is sent to the process, so holding it back on this thread would not do: the descriptor is told not to cause it.
ssize_t cambium_write_quietly(int descriptor, const void *bytes, size_t count) {
  int was_quiet = fcntl(descriptor, F_GETNOSIGPIPE);
  if (was_quiet == 0) fcntl(descriptor, F_SETNOSIGPIPE, 1);
  ssize_t written = write(descriptor, bytes, count);
  int error = errno;
  if (was_quiet == 0) fcntl(descriptor, F_SETNOSIGPIPE, 0);
  errno = error;
  return written;
}

// MARK: Locks

// By `flock`: the lock belongs to the open file description too. But one cannot ask for it without taking it, which a reader
// does in passing, as a shared one. So a writer that finds the file locked tries again for some milliseconds.
int cambium_lock(int descriptor) {
  for (int attempt = 0; attempt < 20; attempt++) {
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK) return -1;
    usleep(500);
  }
  errno = EWOULDBLOCK;
  return -1;
}

int cambium_unlock(int descriptor) {
  return flock(descriptor, LOCK_UN);
}

int cambium_is_locked(int descriptor) {
  if (flock(descriptor, LOCK_SH | LOCK_NB) == 0) return flock(descriptor, LOCK_UN);
  return errno == EWOULDBLOCK ? 1 : -1;
}

int32_t cambium_lock_holder(int descriptor) {
  (void)descriptor;
  return 0;
}

int cambium_lock_directory(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB);
}

int cambium_unlock_directory(int descriptor) {
  return flock(descriptor, LOCK_UN);
}

// MARK: Names

int cambium_path_flag(void) { return O_SEARCH; }

// There are no numbers. All that is reached by a network, or by a program of the user's, is told by its name.
int cambium_file_system(int descriptor, uint32_t *magic, char name[16]) {
  struct statfs status;
  if (fstatfs(descriptor, &status) != 0) return -1;
  *magic = 0;
  int is_remote = !(status.f_flags & MNT_LOCAL) || strstr(status.f_fstypename, "fuse") != NULL;
  strlcpy(name, is_remote ? status.f_fstypename : "", 16);
  return 0;
}

// File systems without these calls say ENOTSUP, where Linux says EINVAL.
static int rename_with(
  int directory, const char *name, int new_directory, const char *new_name, unsigned flags
) {
  int result = renameatx_np(directory, name, new_directory, new_name, flags);
  if (result != 0 && errno == ENOTSUP) errno = EINVAL;
  return result;
}

int cambium_rename_to_free(int directory, const char *name, int new_directory, const char *new_name) {
  return rename_with(directory, name, new_directory, new_name, RENAME_EXCL);
}

int cambium_exchange(int directory, const char *name, int other_directory, const char *other_name) {
  return rename_with(directory, name, other_directory, other_name, RENAME_SWAP);
}

// MARK: Threads

void cambium_name_thread(const char *name) { pthread_setname_np(name); }

void cambium_make_mutex(pthread_mutex_t *mutex) { pthread_mutex_init(mutex, NULL); }

void cambium_make_condition(pthread_cond_t *condition) { pthread_cond_init(condition, NULL); }

int cambium_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
  struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  return pthread_cond_timedwait_relative_np(condition, mutex, &time) != ETIMEDOUT;
}
#endif
