#include "grading/verdict/columns.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <stdexcept>

namespace shardlings::grading {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(Columns, WriteRegularNumbersShortly) {
  EXPECT_EQ(verdict::to_column({}), "");
  EXPECT_EQ(verdict::to_column({7}), "7");
  EXPECT_EQ(verdict::to_column({0, 0, 1000, 2000, 3000}), "0*2 1000*3");
  EXPECT_EQ(verdict::to_column({-1, -1, -1, 4}), "-1 0*2 5");
}

TEST(Columns, ReadWhatTheyWrote) {
  std::mt19937_64 random(1);
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  for (int round = 0; round < 200; ++round) {
    Numbers numbers(random() % 50);
    for (std::int64_t& number : numbers) {
      const auto any = static_cast<std::int64_t>(random());
      const Numbers choices = {0, 1, any % 1000, any, kLeast, kMost};
      number = choices[random() % choices.size()];
    }
    EXPECT_EQ(verdict::from_column(verdict::to_column(numbers), numbers.size()), numbers)
        << verdict::to_column(numbers);
  }
}

TEST(Columns, RefuseWhatIsNone) {
  for (const char* text : {"1", "1*2 1*2", "1*3 0*-1", "1*0 2 3 4", "a", "1 2 ", "1  2 3", "1*99999999999999999999",
                           "1*18446744073709551615", "99999999999999999999 1 1"}) {
    EXPECT_THROW(verdict::from_column(text, 3), std::runtime_error) << text;
  }
}

}  // namespace
}  // namespace shardlings::grading
