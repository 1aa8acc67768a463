// The emitted C text: the tests link it, compare it with its schedule file, and look for anything that depends on the
// machine.
#include "generator/emit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "tests/generator/nodes_1_2_3.h"
#include "tests/support/matches.h"

namespace quadrille::emit_test {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<uint8_t> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Emit, LinksTheBytesOfTheFile) {
  const std::vector<uint8_t> file = read("tests/generator/nodes_1_2_3.qs");
  ASSERT_FALSE(file.empty());
  EXPECT_EQ(std::vector<uint8_t>(quadrille_nodes_1_2_3,
                                 quadrille_nodes_1_2_3 + sizeof quadrille_nodes_1_2_3),
            file);
}

// Returns the bytes that the source text spells out.
std::vector<uint8_t> spelled(const std::string& source) {
  std::vector<uint8_t> bytes;
  for (const Match& byte : matches(source, "0x([0-9a-f]{2}),"))
    bytes.push_back(static_cast<uint8_t>(std::stoi(byte.groups[1], nullptr, 16)));
  return bytes;
}

TEST(Emit, SpellsOutEveryByteWhateverTheirNumber) {
  for (const size_t length : {1, 15, 16, 17, 300}) {
    std::vector<uint8_t> file(length);
    for (size_t i = 0; i < length; ++i) file[i] = static_cast<uint8_t>(i * 7 + 250);
    const EmittedSource emitted = emit_c(file, "some", "made");
    EXPECT_EQ(spelled(emitted.source), file);
    EXPECT_THAT(emitted.source, HasSubstr(fmt::format("quadrille_some[{}] = {{", length)));
    EXPECT_THAT(emitted.header,
                HasSubstr(fmt::format("extern const unsigned char quadrille_some[{}];", length)));
  }
}

TEST(Emit, BeginsWithAWarningAndTheCommandThatMadeIt) {
  const std::vector<uint8_t> file = {1, 2, 3};
  const EmittedSource emitted = emit_c(file, "some", "   bazel run //generator -- emit some.qs");
  for (const std::string& text : {emitted.header, emitted.source})
    EXPECT_THAT(text, StartsWith("/* DO NOT EDIT. Made by:\n   bazel run //generator -- emit "
                                 "some.qs */\n"));
  EXPECT_THAT(emitted.source, HasSubstr("#include \"some.h\""));
  EXPECT_THAT(emitted.header, HasSubstr("#ifndef QUADRILLE_EMITTED_SOME_H_"));
}

TEST(Emit, DependsOnItsArgumentsAlone) {
  const std::vector<uint8_t> file(100, 42);
  const EmittedSource one = emit_c(file, "some", "made"), other = emit_c(file, "some", "made");
  EXPECT_EQ(one.header, other.header);
  EXPECT_EQ(one.source, other.source);
}

TEST(Emit, MakesIdentifiersOfFileNames) {
  EXPECT_EQ(identifier_from("nodes-1,2,3"), "nodes_1_2_3");
  EXPECT_EQ(identifier_from("4x8"), "schedule_4x8");
  EXPECT_EQ(identifier_from(""), "schedule_");
  EXPECT_EQ(identifier_from("a b.c"), "a_b_c");
}

}  // namespace quadrille::emit_test
