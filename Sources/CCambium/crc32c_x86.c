#ifdef __x86_64__
#include <nmmintrin.h>
#include <stdint.h>
#include <wmmintrin.h>

#define INSTRUCTIONS __attribute__((target("sse4.2,pclmul")))

INSTRUCTIONS static inline uint64_t step(uint64_t crc, uint64_t word) {
  return _mm_crc32_u64(crc, word);
}

INSTRUCTIONS static inline uint32_t step_byte(uint32_t crc, uint8_t byte) {
  return _mm_crc32_u8(crc, byte);
}

INSTRUCTIONS static inline uint64_t multiply(uint64_t a, uint64_t b) {
  __m128i product =
      _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)a), _mm_cvtsi64_si128((int64_t)b), 0);
  return (uint64_t)_mm_cvtsi128_si64(product);
}

#include "crc32c_streams.h"

crc32c_function *crc32c_instructions(void) {
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul")) return NULL;
  prepare_shifts();
  return by_instructions;
}
#endif
