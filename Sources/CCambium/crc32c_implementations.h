// A CRC here is kept as the polynomial's remainder with its bits reflected: bit 31 is the
// coefficient of x^0, bit 0 that of x^31. The inversion that the CRC-32C standard asks for at both
// ends happens once, in the callers of these functions.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Bytes are loaded as whole words, whose lowest byte must be the first.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a little-endian processor is needed");

#define CRC32C_POLYNOMIAL 0x82F63B78u

typedef uint32_t crc32c_function(uint32_t crc, const unsigned char *bytes, size_t count);

crc32c_function crc32c_tables;

/// Fills the tables. Once, before anything else here is called.
void crc32c_tables_prepare(void);

/// The implementation by this processor's instructions, ready to be called, or null if it lacks
/// them. Call after `crc32c_tables_prepare`.
crc32c_function *crc32c_instructions(void);

static inline uint64_t crc32c_load(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}
