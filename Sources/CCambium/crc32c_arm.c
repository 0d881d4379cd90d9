#ifdef __aarch64__
#include <arm_acle.h>
#include <arm_neon.h>
#include <stdint.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

#define INSTRUCTIONS __attribute__((target("crc,aes")))

// The kernel's names for what a processor can do: part of its interface, so they never change.
enum { has_polynomial_multiply = 1 << 4, has_crc32 = 1 << 7 };

INSTRUCTIONS static inline uint64_t step(uint64_t crc, uint64_t word) {
  return __crc32cd((uint32_t)crc, word);
}

INSTRUCTIONS static inline uint32_t step_byte(uint32_t crc, uint8_t byte) {
  return __crc32cb(crc, byte);
}

INSTRUCTIONS static inline uint64_t multiply(uint64_t a, uint64_t b) {
  return (uint64_t)vmull_p64((poly64_t)a, (poly64_t)b);
}

#include "crc32c_streams.h"

crc32c_function *crc32c_instructions(void) {
  // Every processor that Darwin runs on has both.
#ifdef __linux__
  const unsigned long needed = has_polynomial_multiply | has_crc32;
  if ((getauxval(AT_HWCAP) & needed) != needed) return NULL;
#endif
  prepare_shifts();
  return by_instructions;
}
#endif
