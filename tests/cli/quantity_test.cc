// Tests how the commands read sizes, times, rates and whole numbers.
#include "cli/quantity.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using Values = std::vector<std::pair<std::string, int64_t>>;

// Returns the value that `read` reads from the text, if it accepts it.
template <class Read, class... Limits>
std::optional<int64_t> value_of(Read read, const std::string& text, Limits... limits) {
  int64_t value = -7;
  if (read(text.data(), text.size(), limits..., &value)) return value;
  EXPECT_EQ(value, -7) << "a refusal writes: " << text;
  return std::nullopt;
}

std::optional<int64_t> bytes(const std::string& text, int64_t least = 0, int64_t most = INT32_MAX) {
  return value_of(quantity_bytes, text, least, most);
}

std::optional<int64_t> whole(const std::string& text, int64_t least, int64_t most) {
  return value_of(quantity_whole, text, least, most);
}

std::optional<int64_t> nanoseconds(const std::string& text) {
  return value_of(quantity_time, text, 1000, 1000000000);
}

std::optional<int64_t> of_a_byte(const std::string& text) {
  return value_of(quantity_time_of_a_byte, text, 1000000000);
}

TEST(Quantity, SizesHaveBinaryUnits) {
  for (const auto& [text, value] : Values{{"0", 0},
                                          {"4096", 4096},
                                          {"007", 7},
                                          {"64B", 64},
                                          {"4KiB", 4096},
                                          {"4 KiB", 4096},
                                          {"3MiB", 3 << 20},
                                          {"1GiB", 1 << 30},
                                          {"2147483647", INT32_MAX}})
    EXPECT_EQ(bytes(text), value) << text;
  for (const char* text :
       {"", " ", "KiB", "4k", "4KB", "4kib", "4  KiB", "4KiB ", " 4", "+4", "-4", "1.5KiB", "0x10",
        "1e3", "4,5", "2GiB", "2147483648", "99999999999999999999", "9223372036854775807GiB"})
    EXPECT_EQ(bytes(text), std::nullopt) << text;
}

TEST(Quantity, SizesKeepTheirBounds) {
  EXPECT_EQ(bytes("1KiB", 1024, 1024), 1024);
  EXPECT_EQ(bytes("1023", 1024, 2048), std::nullopt);
  EXPECT_EQ(bytes("2049", 1024, 2048), std::nullopt);
  EXPECT_EQ(bytes("3KiB", 1024, 2048), std::nullopt);
}

TEST(Quantity, WholeNumbersReachBothEnds) {
  EXPECT_EQ(whole("9223372036854775807", INT64_MIN, INT64_MAX), INT64_MAX);
  EXPECT_EQ(whole("-9223372036854775808", INT64_MIN, INT64_MAX), INT64_MIN);
  EXPECT_EQ(whole("-3", -3, 5), -3);
  EXPECT_EQ(whole("5", -3, 5), 5);
  for (const char* text : {"-4", "6", "", "-", "--3", "+3", "3x", " 3", "3 ", "9223372036854775808",
                           "-9223372036854775809"})
    EXPECT_EQ(whole(text, -3, 5), std::nullopt) << text;
  EXPECT_EQ(whole("9223372036854775808", INT64_MIN, INT64_MAX), std::nullopt);
}

TEST(Quantity, TimesHaveUnitsAndRound) {
  for (const auto& [text, value] : Values{{"30", 30},
                                          {"30ns", 30},
                                          {"30 ns", 30},
                                          {"30us", 30000},
                                          {"5\u00b5s", 5000},
                                          {"5 \u03bcs", 5000},
                                          {"0.5ms", 500000},
                                          {"1s", 1000000000},
                                          {"1499ps", 1},
                                          {"1500ps", 2}})
    EXPECT_EQ(nanoseconds(text), value) << text;
  for (const char* text : {"", "us", "2s", "-1ns", "1,5us", ".5us", "1.us", "nan", "inf", "1e3",
                           "0x10", "30Us", "3 0us"})
    EXPECT_EQ(nanoseconds(text), std::nullopt) << text;
}

TEST(Quantity, AByteTakesATimeOrArrivesAtARate) {
  for (const auto& [text, value] : Values{{"125", 125},
                                          {"40ns", 40000},
                                          {"100Gbit/s", 80},
                                          {"100 Gbit/s", 80},
                                          {"10Mbit/s", 800000},
                                          {"12.5GB/s", 80},
                                          {"1GiB/s", 931},
                                          {"1TB/s", 1},
                                          {"1kB/s", 1000000000}})
    EXPECT_EQ(of_a_byte(text), value) << text;
  for (const char* text : {"0Gbit/s", "100Gbit", "100Gbps", "100gbit/s", "-1GB/s", "999B/s",
                           "9TB/s", "Gbit/s", "2ms", "1e3GB/s"})
    EXPECT_EQ(of_a_byte(text), std::nullopt) << text;
}

TEST(Quantity, DecimalsHaveNoUnit) {
  double value = -7;
  EXPECT_TRUE(quantity_decimal("0.25", 4, 3600, &value));
  EXPECT_EQ(value, 0.25);
  EXPECT_TRUE(quantity_decimal("3600", 4, 3600, &value));
  EXPECT_EQ(value, 3600);
  for (const std::string text : {"", "3601", "-1", "1s", "nan", "1e3", "1 ", "."})
    EXPECT_FALSE(quantity_decimal(text.data(), text.size(), 3600, &value)) << text;
  EXPECT_EQ(value, 3600);
}

// The reader gets a length. The text may go on behind it, and that rest is not read.
TEST(Quantity, NothingBehindTheLengthIsRead) {
  int64_t value = 0;
  EXPECT_TRUE(quantity_bytes("4KiB,5", 4, 0, INT32_MAX, &value));
  EXPECT_EQ(value, 4096);
  EXPECT_TRUE(quantity_whole("12x", 2, 0, 99, &value));
  EXPECT_EQ(value, 12);
}

}  // namespace
