// What comes back from an untrusted process: whatever the bytes are, they are read or refused, never believed.

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "base/pack.h"
#include "submission/wire/sample_report.h"

namespace shardlings::grading {
namespace {

TEST(ResultPack, ReadsWhatItWrote) {
  wire::Result result;
  ASSERT_TRUE(readable(wire::pack_report(sample_report()), result));
  for (std::size_t rank : {0, 1}) {
    EXPECT_EQ(result.report.ranks[rank].counters, sample_report().ranks[rank].counters);
  }
  ASSERT_EQ(result.report.ranks[1].trace.events.size(), 5U);
  EXPECT_EQ(result.report.ranks[1].trace.events[4].measured_end, Nanos(12));
  EXPECT_EQ(result.report.ranks[1].trace.events[3].measured_end, Nanos(-1));
  EXPECT_EQ(result.outputs.at("w").values, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(result.report.ranks[1].shows.kept, sample_report().ranks[1].shows.kept);
  EXPECT_EQ(result.report.ranks[1].shows.left_out, 5);
  EXPECT_EQ(result.report.failure->message, "leak: …");
  EXPECT_EQ(result.report.failure->line, 7);
}

TEST(ResultPack, RefusesShowsThatNoRankCanLeave) {
  const auto accepts = [](const std::function<void(front::Shows&)>& change) {
    front::RunReport report = sample_report();
    change(report.ranks[1].shows);
    wire::Result result;
    return readable(wire::pack_report(report), result);
  };
  EXPECT_TRUE(accepts([](front::Shows&) {}));
  EXPECT_FALSE(accepts([](front::Shows& shows) { shows.kept.resize(front::Shows::kMost + 1); })) << "too many";
  EXPECT_FALSE(accepts([](front::Shows& shows) { shows.kept[0].label.assign(81, 'x'); })) << "too long";
  EXPECT_FALSE(accepts([](front::Shows& shows) { shows.kept[0].nan = 5; })) << "more than there are elements";
  EXPECT_FALSE(accepts([](front::Shows& shows) { shows.kept[0].shape = {-1, 2}; })) << "no shape";
  EXPECT_FALSE(accepts([](front::Shows& shows) { shows.kept[0].rows[0].row = 2; })) << "behind the last row";
  EXPECT_FALSE(accepts([](front::Shows& shows) { shows.kept[0].rows[0].values.resize(3); })) << "too wide";
  EXPECT_FALSE(accepts([](front::Shows& shows) { shows.kept[0].rows.resize(4); })) << "too many rows";
  EXPECT_FALSE(accepts([](front::Shows& shows) { shows.left_out = -1; }));
}

TEST(ResultPack, AListOfMembersIsThereOnce) {
  front::RunReport report = sample_report();
  const auto size_with = [&](std::size_t members) {
    const auto list = std::make_shared<const std::vector<int>>(members, 7);
    for (front::RankReport& rank : report.ranks) rank.trace.members = {list};
    return wire::pack_report(report).size();
  };
  EXPECT_EQ(size_with(1000) - size_with(1), 999 * sizeof(int));

  wire::Result result;
  ASSERT_TRUE(readable(wire::pack_report(report), result));
  const auto& ranks = result.report.ranks;
  EXPECT_EQ(members_of(ranks[1].trace, 0), std::vector<int>{7});
  EXPECT_EQ(ranks[0].trace.members[0], ranks[1].trace.members[0]) << "and is shared again";
}

TEST(ResultPack, TooShortTooLongOrOfOtherRanks) {
  const std::string bytes = wire::pack_report(sample_report());
  for (std::size_t size = 0; size < bytes.size(); size += 3) {
    wire::Result result;
    EXPECT_FALSE(readable(bytes.substr(0, size), result)) << size;
  }
  wire::Result result;
  EXPECT_FALSE(readable(bytes + "x", result));
  EXPECT_THROW(wire::unpack_report(bytes, 3, result), BadPack);
}

}  // namespace
}  // namespace shardlings::grading
