// Checks the checksum and the hash against the test vectors of their standards.
#include "runtime/program/digest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace quadrille::digest_test {

uint32_t crc(const std::string& text) { return qd_crc32c(text.data(), text.size()); }

// Returns the hash of a text that is added `piece` bytes at a time.
std::string sha256(const std::string& text, size_t piece) {
  qd_sha256 hash;
  qd_sha256_start(&hash);
  for (size_t at = 0; at < text.size(); at += piece) {
    const std::string part = text.substr(at, piece);
    qd_sha256_add(&hash, part.data(), part.size());
  }
  unsigned char digest[32];
  qd_sha256_end(&hash, digest);
  std::string hexadecimal;
  for (const unsigned char byte : digest) hexadecimal += fmt::format("{:02x}", byte);
  return hexadecimal;
}

TEST(Crc32c, GivesTheVectorsOfRfc3720) {
  EXPECT_EQ(crc(""), 0u);
  EXPECT_EQ(crc("123456789"), 0xE3069283u);
  EXPECT_EQ(crc(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc(std::string(32, '\xff')), 0x62A8AB43u);
  std::string ascending, descending;
  for (int i = 0; i < 32; ++i) {
    ascending += static_cast<char>(i);
    descending += static_cast<char>(31 - i);
  }
  EXPECT_EQ(crc(ascending), 0x46DD794Eu);
  EXPECT_EQ(crc(descending), 0x113FDB5Cu);
}

TEST(Sha256, GivesTheVectorsOfFips180) {
  EXPECT_EQ(sha256("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a'), 4096),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowItIsFed) {
  for (const size_t length : {1, 55, 56, 63, 64, 65, 119, 120, 128, 1000}) {
    const std::string text(length, 'q');
    for (const size_t piece : {1, 3, 63, 64, 65, 200})
      EXPECT_EQ(sha256(text, piece), sha256(text, length)) << length << " in " << piece;
  }
}

}  // namespace quadrille::digest_test
