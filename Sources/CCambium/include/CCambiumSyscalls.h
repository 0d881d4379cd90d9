#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The system calls that Swift's Glibc module does not name. Each returns 0, or -1 with `errno` set,
// unless it says otherwise, and is left to the caller to repeat after EINTR.

/// Takes the write lock on the whole file for this open file description (OFD), without waiting.
/// Unlike a POSIX lock it is not lost when another descriptor of the same file is closed.
int cambium_lock(int descriptor);

/// Gives the lock of this description back, also where a forked child has the description too.
int cambium_unlock(int descriptor);

/// Whether another description has the lock: 1 or 0, or -1 with `errno` set. The file may be open for
/// reading only.
int cambium_is_locked(int descriptor);

/// Takes the lock on a directory for this open file description, without waiting (`flock`: an OFD lock
/// would demand that the directory be open for writing). `cambium_unlock_directory` gives it back.
int cambium_lock_directory(int descriptor);
int cambium_unlock_directory(int descriptor);

/// The process that keeps this description from the lock, or 0 where that cannot be known: the
/// kernel names the holder of a POSIX lock, but of an OFD lock it does not.
int32_t cambium_lock_holder(int descriptor);

/// The magic number of the file system that the file lies on, in 32 bits, or -1 with `errno` set.
int64_t cambium_file_system_magic(int descriptor);

/// The flag of `open` for a descriptor that only names a file or directory, which need not be readable.
int cambium_path_flag(void);

/// Makes reads and writes go past the page cache (1) or through it (0).
int cambium_set_direct(int descriptor, int direct);

/// Gives a file of a directory a new name, in it or in another, unless the name is taken (EEXIST) or the medium
/// cannot tell (EINVAL).
int cambium_rename_to_free(int directory, const char *name, int new_directory, const char *new_name);

/// Gives two files each other's names at once; EINVAL where the medium cannot.
int cambium_exchange(int directory, const char *name, int other_directory, const char *other_name);

/// As `write`, but where nobody reads the pipe or socket any more it returns -1 with `EPIPE`, and the process is not
/// sent the signal that would end it.
ssize_t cambium_write_quietly(int descriptor, const void *bytes, size_t count);
