// Composes files of correct or wrong parts, and asks the decoder and the runtime's loader about them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "generator/encode.h"
#include "generator/registry.h"
#include "runtime/program/program.h"
#include "tests/support/reseal.h"
#include "verifier/decode.h"

namespace quadrille::verifier {

using testing::HasSubstr;
using testing::StartsWith;

inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Bytes varint(uint64_t value) {
  Bytes bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 0x80));
  bytes.push_back(static_cast<uint8_t>(value));
  return bytes;
}

// Encodes the number with one byte more than it needs.
inline Bytes overlong(uint64_t value) {
  Bytes bytes = varint(value);
  bytes.back() |= 0x80;
  bytes.push_back(0);
  return bytes;
}

inline Bytes section(const std::string& letters, int flags, const Bytes& payload) {
  return Bytes(letters.begin(), letters.end()) + Bytes{static_cast<uint8_t>(flags)} +
         varint(payload.size()) + payload;
}

inline Program example() {
  const Algorithm& factor = *find_algorithm(Collective::kAlltoall, "factor");
  return make_program(factor, all_choices(factor)[0]);
}
inline Bytes code() { return encode_code(example()); }
inline Bytes job() { return {2, 1, 1, 1, 2}; }  // two runs: one node of 1, one of 2
inline Bytes program_section() { return section("PRG", 1, code()); }
inline Bytes job_section() { return section("JOB", 1, job()); }
inline Bytes names_section() { return section("NAM", 0, encode_names(example())); }

struct Header {
  int major = 1, minor = 0, oldest_reader = 1;
};

inline Bytes file_of(const std::vector<Bytes>& sections, const Header& header = {}) {
  const std::string magic = QD_MAGIC;
  Bytes file(magic.begin(), magic.end());
  for (const int number :
       {header.major, header.minor, header.oldest_reader, static_cast<int>(sections.size())})
    file = file + Bytes{static_cast<uint8_t>(number), static_cast<uint8_t>(number >> 8)};
  file.resize(QD_SECTIONS_OFFSET);
  for (const Bytes& section : sections) file = file + section;
  file.resize(file.size() + QD_CHECKSUM_LENGTH);
  quadrille_reseal(file.data(), file.size());
  return file;
}

inline Bytes good() { return file_of({program_section(), job_section(), names_section()}); }

inline Bytes with_code(const Bytes& code) {
  return file_of({section("PRG", 1, code), job_section()});
}
inline Bytes with_job(const Bytes& job) {
  return file_of({program_section(), section("JOB", 1, job)});
}

inline std::string decoder_says(const Bytes& file) {
  const Result<Schedule> schedule = decode(file, "bad.qs");
  return schedule.ok() ? "" : schedule.error().message;
}

inline std::string loader_says(const Bytes& file) {
  qd_program program;
  const char* error = qd_program_load(&program, file.data(), file.size());
  if (!error) qd_program_destroy(&program);
  return error ? error : "";
}

inline void expect_taken(const Bytes& file) {
  EXPECT_EQ(decoder_says(file), "");
  EXPECT_EQ(loader_says(file), "");
}

// Expects that both refuse the file. `decoder` and `loader` are parts of their messages.
inline void expect_refused(const Bytes& file, const std::string& decoder,
                           const std::string& loader) {
  const std::string decoded = decoder_says(file), loaded = loader_says(file);
  EXPECT_THAT(decoded, StartsWith("bad.qs: "));
  EXPECT_THAT(decoded, HasSubstr(decoder));
  EXPECT_THAT(loaded, HasSubstr(loader));
  for (const std::string& said : {decoded, loaded}) {
    const std::string remedy = said.substr(std::min(said.size(), said.find("; ")));
    EXPECT_TRUE(remedy.starts_with("; make ") || remedy.starts_with("; use a newer")) << said;
  }
}

inline void expect_refused(const Bytes& file, const std::string& both) {
  expect_refused(file, both, both);
}

}  // namespace quadrille::verifier
