#define _GNU_SOURCE
#include "CCambiumThreads.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

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

void cambium_name_thread(const char *name) {
  char shortened[16] = {0};
  strncpy(shortened, name, sizeof shortened - 1);
  pthread_setname_np(pthread_self(), shortened);
}

void cambium_block_signals(void) {
  static const int arriving[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
  sigset_t set;
  sigfillset(&set);
  for (unsigned index = 0; index < sizeof arriving / sizeof arriving[0]; index++)
    sigdelset(&set, arriving[index]);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}
