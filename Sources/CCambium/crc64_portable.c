// Eight bytes a step, by tables ("slicing by eight": Kounavis and Berry, 2005).
#include "crc64_implementations.h"

/// `tables[k][b]` is what byte `b` adds to the remainder when `k` more bytes follow it in its word.
static uint64_t tables[8][256];

static uint64_t advance_by_a_byte(uint64_t crc) {
  for (int bit = 0; bit < 8; bit++) crc = crc64_advance_by_a_bit(crc);
  return crc;
}

void crc64_tables_prepare(void) {
  for (uint64_t byte = 0; byte < 256; byte++) {
    uint64_t crc = byte;
    for (int k = 0; k < 8; k++) {
      crc = advance_by_a_byte(crc);
      tables[k][byte] = crc;
    }
  }
}

/// The remainders of all eight bytes are independent, so the processor looks them up at once.
static inline uint64_t step(uint64_t crc, uint64_t word) {
  word ^= crc;
  return tables[7][word & 0xFF] ^ tables[6][word >> 8 & 0xFF] ^ tables[5][word >> 16 & 0xFF]
         ^ tables[4][word >> 24 & 0xFF] ^ tables[3][word >> 32 & 0xFF]
         ^ tables[2][word >> 40 & 0xFF] ^ tables[1][word >> 48 & 0xFF] ^ tables[0][word >> 56];
}

uint64_t crc64_tables(uint64_t crc, const unsigned char *bytes, size_t count) {
  for (; count >= 8; bytes += 8, count -= 8) crc = step(crc, crc64_load(bytes));
  for (; count > 0; bytes++, count--) crc = crc >> 8 ^ tables[0][(crc ^ *bytes) & 0xFF];
  return crc;
}

#if !defined(__x86_64__) && !defined(__aarch64__)
crc64_function *crc64_instructions(void) { return NULL; }
#endif
