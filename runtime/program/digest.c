/* Computes CRC-32C bit by bit, as a schedule is a few hundred bytes, and SHA-256 as FIPS 180-4 writes it. Tested
 * against the vectors of the standards (tests/generator/digest_test.cc). */
#include "runtime/program/digest.h"

#include <string.h>

uint32_t qd_crc32c(const void* bytes, size_t length) {
  const unsigned char* next = bytes;
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < length; i++) {
    crc ^= next[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int by) { return x >> by | x << (32 - by); }

static uint32_t big_endian(const unsigned char* bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void compress(uint32_t state[8], const unsigned char block[64]) {
  uint32_t w[64];
  for (int i = 0; i < 16; i++) w[i] = big_endian(block + 4 * i);
  for (int i = 16; i < 64; i++) {
    const uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t a[8];
  memcpy(a, state, sizeof a);
  for (int i = 0; i < 64; i++) {
    const uint32_t e1 = rotate(a[4], 6) ^ rotate(a[4], 11) ^ rotate(a[4], 25);
    const uint32_t first = a[7] + e1 + ((a[4] & a[5]) ^ (~a[4] & a[6])) + round_constants[i] + w[i];
    const uint32_t e0 = rotate(a[0], 2) ^ rotate(a[0], 13) ^ rotate(a[0], 22);
    const uint32_t second = e0 + ((a[0] & a[1]) ^ (a[0] & a[2]) ^ (a[1] & a[2]));
    memmove(a + 1, a, 7 * sizeof *a);
    a[4] += first;
    a[0] = first + second;
  }
  for (int i = 0; i < 8; i++) state[i] += a[i];
}

void qd_sha256_start(qd_sha256* hash) {
  static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(hash->state, initial, sizeof initial);
  hash->length = 0;
}

void qd_sha256_add(qd_sha256* hash, const void* bytes, size_t length) {
  const unsigned char* next = bytes;
  while (length > 0) {
    const size_t filled = hash->length % 64;
    const size_t taken = length < 64 - filled ? length : 64 - filled;
    memcpy(hash->block + filled, next, taken);
    hash->length += taken;
    next += taken;
    length -= taken;
    if (hash->length % 64 == 0) compress(hash->state, hash->block);
  }
}

void qd_sha256_end(qd_sha256* hash, unsigned char digest[32]) {
  const uint64_t bits = hash->length * 8;
  static const unsigned char padding[64] = {0x80};
  const size_t filled = hash->length % 64;
  qd_sha256_add(hash, padding, (filled < 56 ? 56 : 120) - filled);
  unsigned char length[8];
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
  qd_sha256_add(hash, length, 8);
  for (int i = 0; i < 32; i++)
    digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}
