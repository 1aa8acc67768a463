// The table of what is worth a race names schedules that exist, for all collectives, nodes and sizes.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "preload/rules.h"

namespace {

const std::vector<preload_shape> kShapes = {{1, 32, 0, 1, 32, 32},
                                            {1, 32, 0, 32, 1, 1},
                                            {1, 32, 0, 4, 8, 8},
                                            {1, 12, 0, 3, 1, 6},
                                            {2, 8, 4, 0, 0, 0}};
const std::vector<int64_t> kSizes = {-1, 0, 8, 64, 512, 4096, 32768, 262144, 1 << 30};

TEST(Predict, NamesSchedulesThatThereAre) {
  for (int collective = 0; collective < PRELOAD_COLLECTIVE_COUNT; ++collective) {
    for (const preload_shape& shape : kShapes) {
      for (const int64_t bytes : kSizes) {
        for (const int is_openmpi : {0, 1}) {
          preload_predicted predicted[PRELOAD_PREDICTED];
          const int count = preload_predict(collective, &shape, bytes, is_openmpi, predicted);
          // Between groups there are no scans, and no schedules for them.
          ASSERT_GE(count, shape.groups == 2 ? 0 : 1)
              << collective << " " << bytes << " " << shape.nodes;
          for (int i = 0; i < count; ++i) {
            EXPECT_TRUE(
                preload_is_scheduled(predicted[i].rule.universal, collective, shape.groups));
            EXPECT_GE(predicted[i].ratio, shape.nodes == 1 ? 1 : 0.3);
            EXPECT_LE(predicted[i].ratio, 1.3);
          }
        }
      }
    }
  }
}

// Communicators share what they find in a class of sizes, and name a candidate by its index.
TEST(Predict, IsTheSameInAClass) {
  const std::vector<std::pair<int64_t, int64_t>> ends = {
      {16, 63}, {1024, 4095}, {16384, 65535}, {65536, 262143}};
  for (int collective = 0; collective < PRELOAD_COLLECTIVE_COUNT; ++collective) {
    for (const preload_shape& shape : kShapes) {
      for (const auto& [least, most] : ends) {
        ASSERT_EQ(preload_size_class(least), preload_size_class(most));
        preload_predicted low[PRELOAD_PREDICTED], high[PRELOAD_PREDICTED];
        const int count = preload_predict(collective, &shape, least, 1, low);
        ASSERT_EQ(count, preload_predict(collective, &shape, most, 1, high));
        for (int i = 0; i < count; ++i) {
          EXPECT_EQ(low[i].rule.universal, high[i].rule.universal);
          EXPECT_EQ(low[i].rule.block_size, high[i].rule.block_size);
          EXPECT_EQ(low[i].ratio, high[i].ratio);
        }
      }
    }
  }
}

}  // namespace
