#include "CCambium.h"

#include <pthread.h>

#include "crc64_implementations.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static crc64_function *chosen;

static void choose(void) {
  crc64_tables_prepare();
  crc64_function *instructions = crc64_instructions();
  // Pairs with the load in `implementation`: who sees the choice also sees the tables.
  __atomic_store_n(&chosen, instructions ? instructions : crc64_tables, __ATOMIC_RELEASE);
}

/// The choice, made by whoever asks first.
static inline crc64_function *implementation(void) {
  crc64_function *function = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
  if (__builtin_expect(function != NULL, 1)) return function;
  pthread_once(&once, choose);
  return __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
}

uint64_t cambium_crc64(uint64_t crc, const void *bytes, size_t count) {
  return ~implementation()(~crc, bytes, count);
}

uint64_t cambium_crc64_portable(uint64_t crc, const void *bytes, size_t count) {
  implementation();
  return ~crc64_tables(~crc, bytes, count);
}

bool cambium_crc64_is_accelerated(void) {
  return implementation() != crc64_tables;
}
