#include "front/memory/ledger.h"

#include <gtest/gtest.h>

namespace shardlings::front {
namespace {

TEST(Ledger, ThePeakRemembersItsKindsAndItsLine) {
  Ledger ledger(Memory::device, Bytes(1000));
  ledger.add(Kind::parameter, Bytes(100), {"a/puzzle.cpp", 10});
  ledger.add(Kind::activation, Bytes(300), {"a/puzzle.cpp", 20});
  ledger.remove(Kind::activation, Bytes(300));
  ledger.add(Kind::gradient, Bytes(200), {"a/puzzle.cpp", 30});
  const MemoryUse use = ledger.use();
  EXPECT_EQ(use.live.value(), 300);
  EXPECT_EQ(use.peak.value(), 400);
  EXPECT_EQ(use.peak_by_kind[static_cast<std::size_t>(Kind::activation)].value(), 300);
  EXPECT_EQ(use.peak_by_kind[static_cast<std::size_t>(Kind::gradient)].value(), 0);
  EXPECT_EQ(use.peak_file, "puzzle.cpp");
  EXPECT_EQ(use.peak_line, 20);
}

TEST(Ledger, ResettingThePeakKeepsWhatIsAlive) {
  Ledger ledger(Memory::device, Bytes(1000));
  ledger.add(Kind::other, Bytes(600), {"x.cpp", 1});
  ledger.remove(Kind::other, Bytes(500));
  ledger.reset_peak({"x.cpp", 2});
  const MemoryUse use = ledger.use();
  EXPECT_EQ(use.peak.value(), 100);
  EXPECT_EQ(use.peak_line, 2);
}

TEST(Ledger, TheCapacityIsTheLastByteThatFits) {
  Ledger ledger(Memory::device, Bytes(100));
  EXPECT_TRUE(ledger.fits(Bytes(100)));
  EXPECT_FALSE(ledger.fits(Bytes(101)));
}

TEST(StorageTable, AStaleIdIsNotFound) {
  StorageTable table;
  const std::uint32_t index = table.take();
  const std::uint32_t generation = table.at(index).generation;
  EXPECT_NE(table.find(index, generation), nullptr);
  table.erase(index);
  EXPECT_EQ(table.find(index, generation), nullptr);
  EXPECT_EQ(table.take(), index);  // the slot is used again, with another generation
  EXPECT_EQ(table.find(index, generation), nullptr);
  EXPECT_EQ(table.find(0, 0), nullptr);
  EXPECT_EQ(table.find(99, 1), nullptr);
}

}  // namespace
}  // namespace shardlings::front
