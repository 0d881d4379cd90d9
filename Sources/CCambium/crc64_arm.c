#ifdef __aarch64__
#include <arm_neon.h>
#include <stdint.h>
#include <sys/auxv.h>

#define INSTRUCTIONS __attribute__((target("aes")))

// The kernel's name for what a processor can do: part of its interface, so it never changes.
enum { has_polynomial_multiply = 1 << 4 };

typedef uint64_t product __attribute__((vector_size(16)));

INSTRUCTIONS static inline product multiply_first(product a, product b) {
  return (product)vmull_p64((poly64_t)a[0], (poly64_t)b[0]);
}

INSTRUCTIONS static inline product multiply_second(product a, product b) {
  return (product)vmull_high_p64((poly64x2_t)a, (poly64x2_t)b);
}

#include "crc64_folding.h"

crc64_function *crc64_instructions(void) {
  if (!(getauxval(AT_HWCAP) & has_polynomial_multiply)) return NULL;
  prepare_shifts();
  return by_instructions;
}
#endif
