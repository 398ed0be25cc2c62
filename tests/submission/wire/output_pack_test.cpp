#include "submission/wire/output_pack.h"

#include <gtest/gtest.h>

namespace shardlings::grading {
namespace {

using Values = std::vector<float>;

front::Published whole(const std::string& name, const Values& values) {
  const auto n = static_cast<Count>(values.size());
  return {name, {1, n, {{0, 1}, {0, n}}}, values};
}

front::Published rows(Range range, const Values& values) {
  return {"w", {4, 2, {range, {0, 2}}}, values};
}

std::map<std::string, wire::Output> through(const std::vector<std::vector<front::Published>>& published) {
  std::vector<front::RankReport> ranks(published.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].published = published[rank];
  Packer out;
  wire::pack_outputs(ranks, out);
  const std::string bytes = out.take();
  Unpacker in(bytes);
  return wire::assemble(wire::unpack_outputs(ranks.size(), in));
}

TEST(Outputs, EqualReplicasCrossOnce) {
  const Values large(10000, 2.F);
  std::vector<front::RankReport> ranks(8);
  for (auto& rank : ranks) rank.published = {whole("w", large)};
  Packer out;
  wire::pack_outputs(ranks, out);
  EXPECT_LT(out.take().size(), 10000 * sizeof(float) * 11 / 10);
}

TEST(Outputs, EqualReplicas) {
  const auto outputs = through({{whole("w", {1, 2})}, {whole("w", {1, 2})}});
  EXPECT_EQ(outputs.at("w").values, (Values{1, 2}));
  EXPECT_EQ(outputs.at("w").conflict, "");
  EXPECT_TRUE(outputs.at("w").replicas.empty());
}

TEST(Outputs, ReplicasThatDiffer) {
  const auto outputs = through({{whole("w", {1, 2})}, {whole("w", {1, 2})}, {whole("w", {1, 3})}});
  EXPECT_EQ(outputs.at("w").conflict, "rank 2 ended with other values than rank 0");
  ASSERT_EQ(outputs.at("w").replicas.size(), 3U);
  EXPECT_EQ(outputs.at("w").replicas[2], (Values{1, 3}));
}

front::Published missing(const std::string& name) {
  front::Published nothing;
  nothing.name = name;
  nothing.missing = true;
  return nothing;
}

// What the others agree on is not what all of them hold.
TEST(Outputs, ReplicasThatAreMissingAreConflicts) {
  for (const Values& other : {Values{1, 2}, Values{1, 3}}) {
    const auto outputs = through({{whole("w", {1, 2})}, {missing("w")}, {whole("w", other)}});
    EXPECT_EQ(outputs.at("w").conflict, "nothing on rank 1: its tensor is empty");
    EXPECT_FALSE(outputs.at("w").complete);
    EXPECT_TRUE(outputs.at("w").replicas.empty());
  }
}

TEST(Outputs, PartsThatAreMissingAreConflictsEvenIfAReplicaHasThem) {
  const auto outputs = through(
      {{rows({0, 2}, {1, 2, 3, 4})}, {rows({2, 4}, {5, 6, 7, 8})}, {rows({0, 2}, {1, 2, 3, 4})}, {missing("w")}});
  EXPECT_EQ(outputs.at("w").conflict, "nothing on rank 3: its tensor is empty");
  EXPECT_FALSE(outputs.at("w").complete);
}

TEST(Outputs, WhatIsMissingEverywhereIsNoOutput) {
  EXPECT_FALSE(through({{missing("w")}, {missing("w")}}).contains("w"));
}

TEST(Outputs, RectanglesFitTogether) {
  const auto outputs = through({{rows({0, 3}, {1, 2, 3, 4, 5, 6})}, {rows({3, 4}, {7, 8})}});
  EXPECT_EQ(outputs.at("w").values, (Values{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(outputs.at("w").complete);
}

TEST(Outputs, ColumnsAreRectanglesToo) {
  const auto outputs =
      through({{{"w", {2, 3, {{0, 2}, {0, 1}}}, {1, 4}}}, {{"w", {2, 3, {{0, 2}, {1, 3}}}, {2, 3, 5, 6}}}});
  EXPECT_EQ(outputs.at("w").values, (Values{1, 2, 3, 4, 5, 6}));
}

TEST(Outputs, HolesAreSeen) {
  const auto outputs = through({{rows({0, 2}, {1, 2, 3, 4})}, {rows({1, 3}, {3, 4, 5, 6})}, {}});
  EXPECT_FALSE(outputs.at("w").complete);
  EXPECT_FALSE(through({{rows({0, 1}, {1, 2})}}).at("w").complete);
}

TEST(Outputs, OverlapsThatDifferAreConflicts) {
  const auto outputs = through({{rows({0, 3}, {1, 2, 3, 4, 5, 6})}, {rows({2, 4}, {5, 9, 7, 8})}});
  EXPECT_EQ(outputs.at("w").conflict, "ranks 0 and 1 have different values of element (2, 1)");
}

TEST(Outputs, SizesThatDifferAreConflicts) {
  const auto outputs = through({{whole("w", {1, 2})}, {whole("w", {1, 2, 3})}});
  EXPECT_EQ(outputs.at("w").conflict, "ranks 0 and 1 published matrices of different sizes");
  EXPECT_FALSE(outputs.at("w").complete);
}

TEST(Outputs, RegionsOutsideOfTheWholeAreRefused) {
  EXPECT_THROW(through({{rows({3, 5}, {1, 2, 3, 4})}}), BadPack);
  EXPECT_THROW(through({{rows({0, 2}, {1, 2, 3})}}), BadPack);
  EXPECT_THROW(through({{{"w", {Count{1} << 40, 2, {{0, 1}, {0, 2}}}, {1, 2}}}}), BadPack);
}

}  // namespace
}  // namespace shardlings::grading
