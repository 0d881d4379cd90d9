#include "CCambium.h"

uint32_t cambium_crc32c(uint32_t crc, const void *bytes, size_t count) {
  const unsigned char *p = bytes;
  crc = ~crc;
  while (count--) {
    crc ^= *p++;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}
