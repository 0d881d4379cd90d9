// A CRC here is kept as the polynomial's remainder with its bits reflected: bit 63 is the
// coefficient of x^0, bit 0 that of x^63. The inversion that the standard asks for at both ends
// happens once, in the callers of these functions.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Bytes are loaded as whole words, whose lowest byte must be the first.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a little-endian processor is needed");

#define CRC64_POLYNOMIAL 0x9A6C9329AC4BC9B5u

typedef uint64_t crc64_function(uint64_t crc, const unsigned char *bytes, size_t count);

crc64_function crc64_tables;

/// Fills the tables. Once, before anything else here is called.
void crc64_tables_prepare(void);

/// The implementation by this processor's instructions, ready to be called, or null if it lacks
/// them. Call after `crc64_tables_prepare`.
crc64_function *crc64_instructions(void);

/// The remainder times x.
static inline uint64_t crc64_advance_by_a_bit(uint64_t crc) {
  return crc >> 1 ^ (crc & 1 ? CRC64_POLYNOMIAL : 0);
}

static inline uint64_t crc64_load(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}
