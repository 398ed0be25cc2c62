// What was kept of a store is looked at before anybody believes it.
#include "front/store/shared_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace shardlings::front {
namespace {

using testing::HasSubstr;

/// Keeps items in memory, which the test can damage.
class Kept final : public back::Store {
 public:
  explicit Kept(std::vector<back::KeptItem>& items) : items_(items) {}
  std::vector<back::KeptItem> load() override { return items_; }
  void put(const back::KeptItem& item) override { items_.push_back(item); }
  void remove(const std::string&, const std::string&) override {}
  void publish(const std::string&, const std::string&) override {}

 private:
  std::vector<back::KeptItem>& items_;
};

/// An item as a run keeps it.
std::string kept(const Content& content) {
  std::vector<back::KeptItem> items;
  SharedStore store(std::make_unique<Kept>(items));
  store.write({{"f", "x"}, content, Nanos(0), Nanos(1), {}, 0, {}});
  return items.at(0).bytes;
}

Content four_numbers() {
  return {DType::f32, 4, std::make_shared<const std::vector<std::byte>>(16, std::byte{1}), {}};
}

ItemState found(const std::string& bytes) {
  std::vector<back::KeptItem> items{{"f", "x", bytes}};
  return SharedStore(std::make_unique<Kept>(items)).look(Nanos(0), {"f", "x"});
}

std::string refusal(const std::string& bytes) {
  try {
    found(bytes);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(SharedStore, ReadsWhatItHasKept) {
  const ItemState tensor = found(kept(four_numbers()));
  EXPECT_EQ(tensor.state, ItemState::State::whole);
  EXPECT_EQ(tensor.content.count, 4);
  EXPECT_EQ(tensor.content.bytes->size(), 16U);
  const ItemState number = found(kept({DType::f32, 0, nullptr, 7}));
  EXPECT_EQ(number.content.number, 7);
  EXPECT_EQ(number.content.bytes, nullptr);
}

// More elements than bytes would be read from what lies behind them.
TEST(SharedStore, RefusesAnItemThatIsCutOff) {
  const std::string whole = kept(four_numbers());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("item f/x is damaged")) << size << " bytes";
  }
  EXPECT_THAT(refusal(whole + "x"), HasSubstr("item f/x is damaged"));
}

TEST(SharedStore, RefusesAnItemWithoutItsElements) {
  Content content = four_numbers();
  content.bytes = nullptr;  // of a run that computes nothing
  EXPECT_THAT(refusal(kept(content)), HasSubstr("item f/x is damaged"));
  content = four_numbers();
  content.count = 5;
  EXPECT_THAT(refusal(kept(content)), HasSubstr("item f/x is damaged"));
}

}  // namespace
}  // namespace shardlings::front
