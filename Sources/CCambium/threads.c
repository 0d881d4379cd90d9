#define _GNU_SOURCE
#include "CCambiumThreads.h"

#include <pthread.h>
#include <signal.h>

uint32_t cambium_fork_count = 0;

// The child has one thread, so nobody else writes.
static void count_fork(void) {
  __atomic_fetch_add(&cambium_fork_count, 1, __ATOMIC_RELAXED);
}

// When the program is loaded, before anything could be guarded. It fails only where there is no memory
// for a few words, and a program that begins like that does not get far.
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, count_fork);
}

int cambium_start_thread(uintptr_t *thread, void *(*body)(void *), void *argument) {
  pthread_t started;
  int error = pthread_create(&started, NULL, body, argument);
  if (error == 0) *thread = (uintptr_t)started;
  return error;
}

void cambium_join_thread(uintptr_t thread) { pthread_join((pthread_t)thread, NULL); }

void cambium_detach_thread(uintptr_t thread) { pthread_detach((pthread_t)thread); }

void cambium_block_signals(void) {
  static const int arriving[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
  sigset_t set;
  sigfillset(&set);
  for (unsigned index = 0; index < sizeof arriving / sizeof arriving[0]; index++)
    sigdelset(&set, arriving[index]);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}
