#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The same function as `cambium_crc64`, by tables alone, whatever the processor offers.
uint64_t cambium_crc64_portable(uint64_t crc, const void *bytes, size_t count);

/// Whether `cambium_crc64` uses the processor's instructions here.
bool cambium_crc64_is_accelerated(void);
