#pragma once
#include <stdint.h>

/// How many forks lie between the first process and this one. Written by `fork` alone.
extern uint32_t cambium_fork_count;

/// Tells a forked child from its parent: it has another generation than anything that was made
/// before the fork. One load.
static inline uint32_t cambium_fork_generation(void) {
  return __atomic_load_n(&cambium_fork_count, __ATOMIC_RELAXED);
}

/// Names the calling thread, for debuggers; the kernel keeps 15 bytes.
void cambium_name_thread(const char *name);

/// Keeps handlers of signals that are sent to the process off the calling thread. Those that the
/// thread itself causes by a fault, and the profiler's, still arrive.
void cambium_block_signals(void);
