#define _GNU_SOURCE
#include <string.h>

#include "CCambium.h"

bool cambium_contains(const void *bytes, size_t count, const void *part, size_t part_count) {
  if (part_count == 0) return true;
  return count >= part_count && memmem(bytes, count, part, part_count) != NULL;
}
