#pragma once
#include <pthread.h>
#include <stdint.h>

/// How many forks lie between the first process and this one. Written by `fork` alone.
extern uint32_t cambium_fork_count;

/// Tells a forked child from its parent: it has another generation than anything that was made
/// before the fork. One load.
static inline uint32_t cambium_fork_generation(void) {
  return __atomic_load_n(&cambium_fork_count, __ATOMIC_RELAXED);
}

/// Starts a thread that runs `body`. A thread is a number here, as `pthread_t` is another type on each system. Returns 0, or
/// the number of an error.
int cambium_start_thread(uintptr_t *thread, void *(*body)(void *), void *argument);

/// Waits until a thread has ended.
void cambium_join_thread(uintptr_t thread);

/// Says that nobody will wait for a thread.
void cambium_detach_thread(uintptr_t thread);

/// The thread that calls.
static inline uintptr_t cambium_current_thread(void) {
  return (uintptr_t)pthread_self();
}

/// Keeps handlers of signals that are sent to the process off the calling thread. Those that the
/// thread itself causes by a fault, and the profiler's, still arrive.
void cambium_block_signals(void);
