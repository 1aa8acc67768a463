// The headers that most of the compiler's time goes to in a test.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
