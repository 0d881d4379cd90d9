#include "CCambium.h"

#include <pthread.h>

#include "crc32c_implementations.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static crc32c_function *chosen;

static void choose(void) {
  crc32c_tables_prepare();
  crc32c_function *instructions = crc32c_instructions();
  // Pairs with the load in `implementation`: who sees the choice also sees the tables.
  __atomic_store_n(&chosen, instructions ? instructions : crc32c_tables, __ATOMIC_RELEASE);
}

/// The choice, made by whoever asks first.
static inline crc32c_function *implementation(void) {
  crc32c_function *function = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
  if (__builtin_expect(function != NULL, 1)) return function;
  pthread_once(&once, choose);
  return __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
}

uint32_t cambium_crc32c(uint32_t crc, const void *bytes, size_t count) {
  return ~implementation()(~crc, bytes, count);
}

uint32_t cambium_crc32c_portable(uint32_t crc, const void *bytes, size_t count) {
  implementation();
  return ~crc32c_tables(~crc, bytes, count);
}

bool cambium_crc32c_is_accelerated(void) {
  return implementation() != crc32c_tables;
}
