// The clusters that come with the project: they can be read, and their numbers say where they come from.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>

#include "front/clock/cluster.h"
#include "front/clock/cost.h"

namespace shardlings::front {
namespace {

using testing::HasSubstr;

const LinkSpeed& link(const Cluster& cluster, Link link) {
  return cluster.links[static_cast<std::size_t>(link)];
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SHARDLINGS_CLUSTERS)) paths.push_back(entry.path());
  return paths;
}

std::string message_of(auto function) {
  try {
    function();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Clusters, AreNamedLikeTheirFiles) {
  ASSERT_GE(files().size(), 3U);
  for (const auto& path : files()) {
    const Cluster cluster = load_cluster(SHARDLINGS_CLUSTERS, path.stem().string());
    EXPECT_EQ(cluster.name, path.stem().string());
    EXPECT_FALSE(cluster.source.empty()) << path;
    EXPECT_GE(link(cluster, Link::intra_node).bytes_per_second, link(cluster, Link::inter_node).bytes_per_second);
    EXPECT_LE(link(cluster, Link::intra_node).latency, link(cluster, Link::inter_node).latency);
  }
}

TEST(Clusters, TheClassroomHasRoundNumbers) {
  const Cluster classroom = load_cluster(SHARDLINGS_CLUSTERS, "classroom");
  EXPECT_TRUE(classroom.uses_table);
  EXPECT_FALSE(classroom.table.per_sequence || classroom.collective);
  EXPECT_EQ(classroom.table.forward, Nanos(1'000'000));
  EXPECT_EQ(classroom.table.backward, 2 * classroom.table.forward);
  EXPECT_EQ(classroom.table.loss + classroom.table.update, Nanos(0));
  EXPECT_DOUBLE_EQ(link(classroom, Link::intra_node).bytes_per_second, 1e9);
  for (const LinkSpeed& host : classroom.host_links) EXPECT_DOUBLE_EQ(host.bytes_per_second, 1e9);
  EXPECT_DOUBLE_EQ(classroom.host.bytes_per_second, 7e9) << "Adam, 28 bytes for a weight, takes as long as its copy";
}

TEST(Clusters, HalvesOfABackwardAreHalvesUnlessSaidOtherwise) {
  CallTable table = load_cluster(SHARDLINGS_CLUSTERS, "classroom").table;
  EXPECT_EQ(table.weights_part(), table.forward);
  table.backward_weights = Nanos(7);
  EXPECT_EQ(table.weights_part(), Nanos(7));
}

TEST(Clusters, StepsCountSequencesAndNoBytes) {
  const Cluster steps = load_cluster(SHARDLINGS_CLUSTERS, "steps");
  EXPECT_TRUE(steps.uses_table && steps.table.per_sequence);
  EXPECT_EQ(steps.table.forward, steps.table.backward);
  EXPECT_EQ(2 * steps.table.update, steps.table.forward);
  const CostModel costs(steps);
  back::Signature signature;
  signature.kind = back::Collective::all_reduce;
  signature.count = 1'000'000;
  for (const int members : {2, 7}) {
    signature.members = members;
    EXPECT_EQ(costs.collective(signature, Spread()), Nanos(300'000));
  }
  signature.members = 1;
  EXPECT_EQ(costs.collective(signature, Spread()), Nanos(0)) << "nobody to talk to";
  EXPECT_EQ(costs.occupancy(Bytes(1 << 20), Link::intra_node), Nanos(0)) << "bytes are free";
}

TEST(Clusters, UnitsAreThoseOfTheKeys) {
  const Cluster machine = load_cluster(SHARDLINGS_CLUSTERS, "dgx_h100");
  EXPECT_FALSE(machine.uses_table);
  EXPECT_DOUBLE_EQ(machine.roofline.flops_per_second, 67e12);
  EXPECT_DOUBLE_EQ(machine.roofline.memory_bytes_per_second, 3.35e12);
  EXPECT_DOUBLE_EQ(link(machine, Link::intra_node).bytes_per_second, 450e9);
  EXPECT_EQ(link(machine, Link::inter_node).latency, Nanos(9'600));
  EXPECT_NEAR(static_cast<double>(machine.device_memory.value()), 80e9, 0.1e9);
  EXPECT_DOUBLE_EQ(machine.host_links[0].bytes_per_second, 55.1e9);
  EXPECT_DOUBLE_EQ(machine.host.bytes_per_second, 2 * 307.2e9 / 8);
  EXPECT_EQ(machine.host.memory, Bytes(std::int64_t{250} << 30));
}

TEST(Clusters, EveryNumberOfARealMachineHasASource) {
  const std::regex number(R"(^[a-z0-9_]+ = [0-9])");
  for (const auto& path : files()) {
    if (path.stem() == "classroom") continue;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (!std::regex_search(line, number)) continue;
      EXPECT_THAT(line, HasSubstr("#")) << path;
    }
  }
}

TEST(Clusters, TreesAreWholeOrNotThere) {
  EXPECT_FALSE(load_cluster(SHARDLINGS_CLUSTERS, "classroom").trees.known());
  EXPECT_FALSE(load_cluster(SHARDLINGS_CLUSTERS, "steps").trees.known());
  EXPECT_TRUE(load_cluster(SHARDLINGS_CLUSTERS, "dgx_h100").trees.known());
  std::ifstream file(SHARDLINGS_CLUSTERS + std::string("/dgx_h100.toml"));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t key = text.find("hop_between_ns");
  text.erase(key, text.find('\n', key) - key);
  EXPECT_THAT(message_of([&] { parse_cluster(text, "x"); }), HasSubstr("[trees] needs all of its numbers"));
}

TEST(Clusters, SpeedsAreThePeaksUnlessMeasuredOnesAreWanted) {
  EXPECT_FALSE(load_cluster(SHARDLINGS_CLUSTERS, "dgx_a100").efficiency.matmul);
  EXPECT_TRUE(load_cluster(SHARDLINGS_CLUSTERS, "dgx_a100", Speeds::measured).efficiency.matmul);
  EXPECT_FALSE(load_cluster(SHARDLINGS_CLUSTERS, "classroom", Speeds::measured).efficiency.matmul);
}

TEST(Clusters, AnUnknownNameIsAnsweredWithThoseThatThereAre) {
  EXPECT_THAT(message_of([] { load_cluster(SHARDLINGS_CLUSTERS, "dgx_h10"); }),
              HasSubstr("there is no cluster 'dgx_h10'; there are: classroom, dgx_a100, dgx_h100"));
}

TEST(Clusters, AKeyAtFaultIsNamed) {
  EXPECT_THAT(message_of([] { parse_cluster("ranks_per_node = 8", "x"); }),
              HasSubstr("'device_memory_mib' is missing"));
  EXPECT_THAT(message_of([] { parse_cluster("ranks_per_node = -1", "x"); }), HasSubstr("ranks_per_node"));
  EXPECT_THAT(message_of([] { parse_cluster("gb_per_s = 8", "x"); }), HasSubstr("x.toml:1: unknown key 'gb_per_s'"));
  EXPECT_THAT(
      message_of([] { parse_cluster("ranks_per_node = 8\ndevice_memory_mib = 1\n[host]\nmemory_mib = 1", "x"); }),
      HasSubstr("x.toml:3: 'bytes_per_second' is missing"));
  EXPECT_THAT(message_of([] { parse_cluster("ranks_per_node = ", "x"); }), HasSubstr("x.toml:1: "));
}

}  // namespace
}  // namespace shardlings::front
