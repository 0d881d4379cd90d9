#pragma once
#include <stddef.h>
#include <stdint.h>

#include "CCambiumSyscalls.h"
#include "CCambiumThreads.h"
#include "crc32c_testing.h"

/// Continues a CRC-32C (Castagnoli, reflected, as in RFC 3720) over `count` more bytes.
/// Begin with 0. Uses the processor's instructions where it has them.
uint32_t cambium_crc32c(uint32_t crc, const void *bytes, size_t count);

/// Asks the processor to bring the cache line at `address` near. Never faults.
static inline void cambium_prefetch(const void *address) {
  __builtin_prefetch(address, 0, 3);
}
