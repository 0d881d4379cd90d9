#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CCambiumPlatform.h"
#include "CCambiumThreads.h"
#include "crc32c_testing.h"
#include "crc64_testing.h"

/// Continues a CRC-32C (Castagnoli, reflected, as in RFC 3720) over `count` more bytes.
/// Begin with 0. Uses the processor's instructions where it has them.
uint32_t cambium_crc32c(uint32_t crc, const void *bytes, size_t count);

/// Continues a CRC-64/NVMe (reflected, as the NVM Express command set has it for protection
/// information) over `count` more bytes. Begin with 0. Uses the processor's instructions where it has
/// them.
uint64_t cambium_crc64(uint64_t crc, const void *bytes, size_t count);

/// Asks the processor to bring the cache line at `address` near. Never faults.
static inline void cambium_prefetch(const void *address) {
  __builtin_prefetch(address, 0, 3);
}

/// Copies `count` bytes, a multiple of 64, to where nobody will soon read them by way of the caches, such as
/// what a device is to fetch. `to` is aligned to 64 bytes.
static inline void cambium_copy_past_caches(void *to, const void *from, size_t count) {
  typedef uint64_t vector __attribute__((vector_size(16)));
  typedef vector unaligned __attribute__((aligned(1)));
  vector *target = to;
  const unaligned *source = from;
  for (size_t index = 0; index < count / sizeof(vector); index++) {
    __builtin_nontemporal_store(source[index], target + index);
  }
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// Whether `part` is somewhere in `bytes`. Linear, whatever the bytes.
bool cambium_contains(const void *bytes, size_t count, const void *part, size_t part_count);
