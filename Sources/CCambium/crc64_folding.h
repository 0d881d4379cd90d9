// The CRC by carry-less multiplication, in eight streams ("Fast CRC Computation for Generic
// Polynomials Using PCLMULQDQ Instruction": Gopal and others, 2009). Included by one file per
// processor, which defines
//
//   INSTRUCTIONS             the attribute that lets a function use them
//   multiply_first(a, b)     the carry-less product of the first 64 bits of two vectors, as 128 bits
//   multiply_second(a, b)    that of their second 64 bits
//
// A vector holds 16 bytes of the input: a polynomial of degree 127, whose high coefficients are in
// the first 64 bits, F, and the low ones in the second, S. Bytes that follow it count as if it were
// multiplied by x^8 for each of them. A vector d bytes further on may stand for both if what is
// added to it has the same remainder:
//
//   F · x^64 · x^(8d)  +  S · x^(8d)   ≡   F · (x^(8d+64) mod P)  +  S · (x^(8d) mod P)       (mod P)
//
// Those two products have at most 128 bits, so that they are added to that vector, and nothing is
// divided before the last one. Reflected, the product of two 64-bit values has 127 bits in a
// 128-bit register, one too low: it stands for a · b · x. So the constants are one power lower.
//
// Why eight streams: a multiplication starts once a cycle, but takes several to finish, and each
// vector needs the result of the one 16 bytes before it. So each is added to the one 128 bytes on:
//
//   ┌─────┬─────┬─ ─ ─┬─────┐┌─────┬─────┬─ ─ ─┬─────┐
//   │  0  │  1  │     │  7  ││  0  │  1  │     │  7  │ ···   and at the end 0 to 6 to those after them
//   └─────┴─────┴─ ─ ─┴─────┘└─────┴─────┴─ ─ ─┴─────┘
#include "crc64_implementations.h"

typedef uint64_t vector __attribute__((vector_size(16)));

enum {
  streams = 8,
  round_size = streams * sizeof(vector),
};

/// What moves a vector on by `index + 1` vectors: its first 64 bits by the first number, its second
/// by the other.
static vector shifts[streams];

static void prepare_shifts(void) {
  // x^0 is bit 63.
  uint64_t power = (uint64_t)1 << 63;
  uint64_t powers[2 * streams + 2];
  // `powers[k]` is x^(64k - 1).
  for (int exponent = 1; exponent <= 64 * (2 * streams + 1); exponent++) {
    if (exponent % 64 == 0) powers[exponent / 64] = power;
    power = crc64_advance_by_a_bit(power);
  }
  for (int index = 0; index < streams; index++) {
    shifts[index] = (vector){powers[2 * index + 3], powers[2 * index + 2]};
  }
}

INSTRUCTIONS static inline vector load(const unsigned char *bytes) {
  vector loaded;
  memcpy(&loaded, bytes, sizeof loaded);
  return loaded;
}

INSTRUCTIONS static inline vector move(vector moved, vector shift) {
  return multiply_first(moved, shift) ^ multiply_second(moved, shift);
}

INSTRUCTIONS static uint64_t by_instructions(
    uint64_t crc, const unsigned char *bytes, size_t count) {
  if (count < round_size) return crc64_tables(crc, bytes, count);
  vector sums[streams];
  for (int index = 0; index < streams; index++) sums[index] = load(bytes + 16 * index);
  // The remainder so far is added to the bytes that come first.
  sums[0] ^= (vector){crc, 0};
  bytes += round_size;
  count -= round_size;
  const vector round = shifts[streams - 1];
  for (; count >= round_size; bytes += round_size, count -= round_size) {
    for (int index = 0; index < streams; index++) {
      sums[index] = move(sums[index], round) ^ load(bytes + 16 * index);
    }
  }
  // The distances differ, so that these multiplications need not wait for each other.
  vector last = sums[streams - 1];
  for (int index = 0; index < streams - 1; index++) {
    last ^= move(sums[index], shifts[streams - 2 - index]);
  }
  for (; count >= sizeof(vector); bytes += sizeof(vector), count -= sizeof(vector)) {
    last = move(last, shifts[0]) ^ load(bytes);
  }
  unsigned char rest[sizeof last];
  memcpy(rest, &last, sizeof last);
  return crc64_tables(crc64_tables(0, rest, sizeof rest), bytes, count);
}
