#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The same function as `cambium_crc32c`, by tables alone, whatever the processor offers.
uint32_t cambium_crc32c_portable(uint32_t crc, const void *bytes, size_t count);

/// Whether `cambium_crc32c` uses the processor's instructions here.
bool cambium_crc32c_is_accelerated(void);
