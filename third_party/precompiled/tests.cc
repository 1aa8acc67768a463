// The headers of a test that take most of the compiler's time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
