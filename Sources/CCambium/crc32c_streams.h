// The CRC by instructions, in three streams. Included by one file per processor, which defines
//
//   INSTRUCTIONS             the attribute that lets a function use them
//   step(crc, word)          the remainder after eight more bytes
//   step_byte(crc, byte)     the remainder after one more byte
//   multiply(a, b)           the carry-less product of two 32-bit values, as 64 bits
//
// The 32-bit values are handed about in 64-bit registers, which spares narrowing them in the loop.
//
// Why three streams: the instruction starts once a cycle but takes three to finish, and each needs
// the result of the one before. So the input is cut into three parts of equal size, whose chains
// run beside each other and keep the unit busy:
//
//   ┌────────── n words ─────────┬────────── n words ─────────┬────────── n words ─────────┐
//   │ first, from the CRC so far │ second, from 0             │ third, from 0              │
//   └────────────────────────────┴────────────────────────────┴────────────────────────────┘
//
// How they are joined: a remainder followed by m words counts as if multiplied by x^(64m), so
//
//   joined = first · x^(64·2n)  +  second · x^(64·n)  +  third          (mod P)
//
// Reflected, the product of two 32-bit values has 63 bits in a 64-bit register, one too low: it
// stands for a · b · x. And `step(0, product)`, which divides by P, multiplies by x^32 on the way.
// Together that is x^33 too much, so the constant for m words is
//
//   shifts[m] = x^(64m - 33) mod P
//
// The first is x^31, which is 1 reflected, and each next one is the one before, advanced by a word
// of zeros. So no constant is written down, and every length has its own: parts need no fixed size.
#include "crc32c_implementations.h"

enum {
  /// Three parts of 341 words are 8184 bytes: a page of 8 KiB takes one join, one of 4 KiB too.
  words_max = 341,
  /// Below this, the join costs more than the streams save.
  words_min = 8,
};

static uint32_t shifts[2 * words_max + 1];

INSTRUCTIONS static void prepare_shifts(void) {
  shifts[1] = 1;
  for (size_t words = 2; words <= 2 * words_max; words++) {
    shifts[words] = (uint32_t)step(shifts[words - 1], 0);
  }
}

/// The remainder after `3 * words` more words.
INSTRUCTIONS static inline uint64_t three_streams(
    uint64_t crc, const unsigned char *bytes, size_t words) {
  const size_t part = 8 * words;
  const unsigned char *end = bytes + part;
  uint64_t first = crc, second = 0, third = 0;
  for (; bytes != end; bytes += 8) {
    first = step(first, crc32c_load(bytes));
    second = step(second, crc32c_load(bytes + part));
    third = step(third, crc32c_load(bytes + 2 * part));
  }
  uint64_t moved = multiply(first, shifts[2 * words]) ^ multiply(second, shifts[words]);
  return step(0, moved) ^ third;
}

INSTRUCTIONS static uint32_t by_instructions(
    uint32_t start, const unsigned char *bytes, size_t count) {
  uint64_t crc = start;
  while (count >= 3 * 8 * words_min) {
    size_t words = count / (3 * 8);
    if (words > words_max) words = words_max;
    crc = three_streams(crc, bytes, words);
    bytes += 3 * 8 * words;
    count -= 3 * 8 * words;
  }
  for (; count >= 8; bytes += 8, count -= 8) crc = step(crc, crc32c_load(bytes));
  for (; count > 0; bytes++, count--) crc = step_byte((uint32_t)crc, *bytes);
  return (uint32_t)crc;
}
