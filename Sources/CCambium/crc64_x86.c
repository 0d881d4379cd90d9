#ifdef __x86_64__
#include <stdint.h>
#include <wmmintrin.h>

#define INSTRUCTIONS __attribute__((target("sse2,pclmul")))

typedef uint64_t product __attribute__((vector_size(16)));

INSTRUCTIONS static inline product multiply_first(product a, product b) {
  return (product)_mm_clmulepi64_si128((__m128i)a, (__m128i)b, 0x00);
}

INSTRUCTIONS static inline product multiply_second(product a, product b) {
  return (product)_mm_clmulepi64_si128((__m128i)a, (__m128i)b, 0x11);
}

#include "crc64_folding.h"

crc64_function *crc64_instructions(void) {
  if (!__builtin_cpu_supports("pclmul")) return NULL;
  prepare_shifts();
  return by_instructions;
}
#endif
