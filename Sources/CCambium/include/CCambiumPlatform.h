#pragma once
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The calls in which operating systems differ, or that Swift has no names for. `Platform/linux.c` and `Platform/darwin.c` each
// have all of them; everything else that the library asks of a system is POSIX.
//
// Each returns 0, or -1 with `errno` set, unless it says otherwise, and is left to the caller to repeat after EINTR.

// MARK: Bytes

/// Forces the bytes of a file, and the size needed to read them, to the disk.
int cambium_sync_bytes(int descriptor);

/// Forces a file with all that is known of it, or the names in a directory, to the disk.
int cambium_sync(int descriptor);

/// Takes space on the disk for the first `size` bytes of a file, which is at least that long afterwards.
int cambium_allocate(int descriptor, int64_t size);

/// Says that bytes of a file are about to be read.
void cambium_will_need(int descriptor, int64_t offset, int64_t count);

/// Makes reads and writes go past the page cache (1) or through it (0).
int cambium_set_direct(int descriptor, int direct);

/// Gives whole pages of anonymous memory back to the system: they are zeros again.
int cambium_discard(void *memory, size_t count);

/// As `write`, but where nobody reads the pipe or socket any more it returns -1 with `EPIPE`, and the process is not
/// sent the signal that would end it.
ssize_t cambium_write_quietly(int descriptor, const void *bytes, size_t count);

// MARK: Locks

/// Takes the write lock on the whole file for this open file description, without waiting. Unlike a POSIX lock it
/// is not lost when another descriptor of the same file is closed.
int cambium_lock(int descriptor);

/// Gives the lock of this description back, also where a forked child has the description too.
int cambium_unlock(int descriptor);

/// Whether another description has the lock: 1 or 0, or -1 with `errno` set. The file may be open for
/// reading only. This description must not have the lock itself.
int cambium_is_locked(int descriptor);

/// The process that keeps this description from the lock, or 0 where that cannot be known: Linux names the holder of
/// a POSIX lock, but of one that belongs to a description it does not; Darwin names none.
int32_t cambium_lock_holder(int descriptor);

/// Takes the lock on a directory for this open file description, without waiting. `cambium_unlock_directory` gives it
/// back.
int cambium_lock_directory(int descriptor);
int cambium_unlock_directory(int descriptor);

// MARK: Names

/// The flag of `open` for a descriptor that only names a directory, which need not be readable.
int cambium_path_flag(void);

/// The kind of file system that a file lies on: its magic number on Linux, with an empty name; on Darwin the name alone, and
/// only if it is not local.
int cambium_file_system(int descriptor, uint32_t *magic, char name[16]);

/// Gives a file of a directory a new name, in it or in another, unless the name is taken (EEXIST) or the file system
/// cannot tell (EINVAL).
int cambium_rename_to_free(int directory, const char *name, int new_directory, const char *new_name);

/// Gives two files each other's names at once; EINVAL where the file system cannot.
int cambium_exchange(int directory, const char *name, int other_directory, const char *other_name);

// MARK: Threads

/// Names the calling thread, for debuggers; Linux keeps 15 bytes.
void cambium_name_thread(const char *name);

/// Makes a mutex for work that takes less time than going to sleep and being woken: where the system can, a thread that
/// finds it taken looks again a few times first.
void cambium_make_mutex(pthread_mutex_t *mutex);

/// Makes a condition for `cambium_wait`.
void cambium_make_condition(pthread_cond_t *condition);

/// Waits for a signal to a condition for no longer than `nanoseconds` of the monotonic clock, which are not negative.
/// Returns 0 if the time ran out, and else 1.
int cambium_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds);
