// docs/reference/sharding.md: what the solutions of the sharded puzzles hold and send, beside the formulas.
//
// With SHARDLINGS_WRITE_TABLES=1 in the environment the tables of the document are written anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/parts.h"
#include "case/manifest.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/step_cost.h"
#include "memory_map/memory_map.h"
#include "puzzles/solutions.h"

namespace shardlings::grading {
namespace {

const std::string kSource = SHARDLINGS_SOURCE_FOLDER;

/// A row of the tables.
struct Scheme {
  const char* name;
  const char* puzzle;
  int zero;
  bool clips;           ///< sends the norm
  bool hybrid = false;  ///< ZeRO-3 inside a node only
};
constexpr int kRanksOfANode = 2;
constexpr Scheme kSchemes[] = {{"data parallel", "09_data_parallel", 0, false},
                               {"ZeRO-1", "11_zero1", 1, true},
                               {"ZeRO-2", "12_zero2", 2, true},
                               {"ZeRO-3", "13_zero3_fsdp", 3, false},
                               {"hybrid", "14_hybrid_shard", 3, false, true}};
constexpr int kWorldSizes[] = {2, 4, 8};

/// A GPT whose layers N does not divide.
cases::Case example(const build::Toolchain& toolchain, int ranks) {
  cases::Case kase = cases::load_manifest(kSource + "/puzzles/13_zero3_fsdp", toolchain.clusters).cases.front();
  kase.name = "table";
  kase.ranks = ranks;
  kase.batch = 2;
  kase.uneven_tokens = false;
  kase.model = {};
  kase.model.family = model::ModelSpec::Family::gpt;
  kase.model.layers = 4;
  kase.model.hidden = 30;
  kase.model.heads = 3;
  kase.model.outputs = 61;
  kase.model.sequence = 16;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.model.clip = 1;
  kase.cluster.ranks_per_node = kRanksOfANode;
  return kase;
}

/// What a rank should hold at the worst moment, and send over each class of links.
formulas::StepPeak peak_of(const Scheme& scheme, const cases::Case& kase, int rank) {
  return scheme.hybrid ? formulas::hybrid_peak(kase, rank) : formulas::step_peak(kase, rank, scheme.zero);
}
/// What of a scheme's collectives over all ranks goes through this rank's port: of each, a slice
/// (front/group/placement.h).
std::int64_t crossing(const Scheme& scheme, const cases::Case& kase, int rank) {
  std::vector<std::int64_t> calls = formulas::all_gather_bytes(kase, rank);
  if (scheme.zero == 3) {
    const std::vector<std::int64_t> again(calls.begin(), calls.end() - 1);
    calls.insert(calls.end(), again.begin(), again.end());
  }
  const std::vector<std::int64_t> scattered = formulas::reduce_scatter_bytes(kase, rank);
  if (scheme.zero == 0) {
    for (std::size_t l = 0; l < calls.size(); ++l) calls[l] += scattered[l];  // both in one call
  } else {
    calls.insert(calls.end(), scattered.begin(), scattered.end());
  }
  if (scheme.clips) calls.push_back(formulas::all_reduce_bytes_of_one(kase, rank));
  std::int64_t bytes = 0;
  for (const std::int64_t sent : calls) bytes += 4 * part_of(sent / 4, kRanksOfANode, rank % kRanksOfANode).size();
  return bytes;
}

formulas::HybridBytes sent_by(const Scheme& scheme, const cases::Case& kase, int rank) {
  if (scheme.hybrid) return formulas::hybrid_bytes(kase, rank);
  const Bytes norm(scheme.clips ? formulas::all_reduce_bytes_of_one(kase, rank) : 0), nothing(0);
  const judge::Formula<Bytes> bytes = formulas::step_bytes(kase, rank, scheme.zero) + judge::named("the norm", norm);
  if (kase.ranks <= kRanksOfANode) return {bytes, judge::named("nothing", nothing)};
  const auto between = judge::named("slices", Bytes(crossing(scheme, kase, rank)));
  return {judge::named("the rest", bytes.value() - between.value()), between};
}

std::int64_t sent_over(const front::Counters& counters, front::Link link) {
  std::int64_t bytes = 0;
  for (const auto& [key, traffic] : counters.traffic) bytes += key.link == link ? traffic.sent.value() : 0;
  return bytes;
}

std::int64_t bytes_of(const front::Counters& counters, Kind kind) {
  return counters.peak_by_kind[static_cast<std::size_t>(kind)].value();
}

/// The peak of every rank, kind by kind, and its bytes are those of the formulas.
void expect_formulas(const Scheme& scheme, const cases::Case& kase, const wire::Result& result) {
  const std::int64_t ids = formulas::layer_bytes(kase).front().input;  // the copy of the token ids is no activation
  for (int rank = 0; rank < kase.ranks; ++rank) {
    SCOPED_TRACE(fmt::format("{}, {} ranks, rank {}", scheme.name, kase.ranks, rank));
    const front::Counters& counters = result.report.ranks[static_cast<std::size_t>(rank)].counters;
    const formulas::StepPeak peak = peak_of(scheme, kase, rank);
    EXPECT_EQ(counters.peak.value(), peak.total());
    EXPECT_EQ(peak.formula().value(), counters.peak) << peak.formula().text();
    EXPECT_EQ(bytes_of(counters, Kind::parameter), peak.weights + peak.gathered_weights);
    EXPECT_EQ(bytes_of(counters, Kind::gradient), peak.gradients + peak.unreduced);
    EXPECT_EQ(bytes_of(counters, Kind::optimizer), peak.optimizer);
    EXPECT_EQ(bytes_of(counters, Kind::activation), peak.kept + peak.own - ids);
    EXPECT_EQ(sent_over(counters, front::Link::intra_node), sent_by(scheme, kase, rank).inside.value().value());
    EXPECT_EQ(sent_over(counters, front::Link::inter_node), sent_by(scheme, kase, rank).between.value().value());
  }
}

std::string measured_row(const Scheme& scheme, const cases::Case& kase, const wire::Result& result) {
  const front::Counters& counters = result.report.ranks.front().counters;
  const formulas::HybridBytes sent = sent_by(scheme, kase, 0);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", kase.ranks, scheme.name,
                     bytes_of(counters, Kind::parameter), bytes_of(counters, Kind::gradient),
                     bytes_of(counters, Kind::optimizer), bytes_of(counters, Kind::activation),
                     bytes_of(counters, Kind::other), counters.peak.value(), peak_of(scheme, kase, 0).total(),
                     counters.bytes_sent().value(), (sent.inside + sent.between).value().value());
}

std::string links_row(const Scheme& scheme, const cases::Case& kase, const wire::Result& result) {
  const front::Counters& counters = result.report.ranks.front().counters;
  const formulas::HybridBytes sent = sent_by(scheme, kase, 0);
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n", kase.ranks, scheme.name,
                     sent_over(counters, front::Link::intra_node), sent.inside.value().value(),
                     sent_over(counters, front::Link::inter_node), sent.between.value().value());
}

std::string estimated_row(const Scheme& scheme, const cases::Case& kase, const wire::Result& result) {
  memory_map::Transformer model;
  model.layers = kase.model.layers;
  model.hidden = kase.model.hidden;
  model.heads = kase.model.heads;
  model.vocabulary = kase.model.outputs;
  model.sequence = kase.model.sequence;
  model.tied = false;
  memory_map::Training training;
  training.precision = memory_map::precision_of("f32");
  training.kept_by = memory_map::KeptBy::shardlings;
  training.micro_batch = kase.batch;
  memory_map::Parallel parallel;
  parallel.dp = kase.ranks;
  parallel.zero = scheme.zero;
  parallel.shard = scheme.hybrid ? std::min(kRanksOfANode, kase.ranks) : 0;
  const std::int64_t estimate = memory_map::map_memory(model, parallel, training).fullest().total().value();
  const std::int64_t peak = result.report.ranks.front().counters.peak.value();
  return fmt::format("| {} | {} | {} | {} | {:+.1f} % |\n", kase.ranks, scheme.name, estimate, peak,
                     100.0 * static_cast<double>(estimate - peak) / static_cast<double>(peak));
}

struct Tables {
  std::string measured, links, estimated;
};

Tables tables() {
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const cases::Case first = example(toolchain, 2);
  Tables all;
  all.measured = fmt::format(
      "\nA GPT of {} blocks, h = {}, {} heads, V = {}, in f32; {} sequences of {} tokens on each rank; Adam; rank 0; "
      "bytes.\nW = {}.\n\n"
      "| N | | weights | gradients | moments | activations | other | peak | formula | sent | formula |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n",
      first.model.layers, first.model.hidden, first.model.heads, first.model.outputs, first.batch, first.model.sequence,
      formulas::weight_bytes(formulas::layer_bytes(first)));
  all.links = fmt::format(
      "\nThe same by the class of links, on nodes of {} ranks.\n\n"
      "| N | | inside a node | formula | between nodes | formula |\n|---|---|---|---|---|---|\n",
      kRanksOfANode);
  all.estimated = "\n| N | | map of memory | measured peak | difference |\n|---|---|---|---|---|\n";
  std::vector<Solution> solutions;
  for (const Scheme& scheme : kSchemes) solutions.emplace_back(toolchain, scheme.puzzle);
  for (const int ranks : kWorldSizes) {
    const cases::Case kase = example(toolchain, ranks);
    for (std::size_t i = 0; i < solutions.size(); ++i) {
      const Scheme& scheme = kSchemes[i];
      const wire::Result result = solutions[i].run(kase);
      EXPECT_EQ(result.ending, wire::Ending::finished) << result.explanation;
      if (result.ending != wire::Ending::finished) return all;
      expect_formulas(scheme, kase, result);
      all.measured += measured_row(scheme, kase, result);
      if (scheme.zero == 3) all.links += links_row(scheme, kase, result);
      all.estimated += estimated_row(scheme, kase, result);
    }
  }
  return all;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The text with `table` between the comment "<!-- name: …" and the "<!-- end -->" after it.
std::string with_table(const std::string& text, const std::string& name, const std::string& table) {
  const std::size_t mark = text.find("<!-- " + name);
  const std::size_t begin = text.find('\n', mark) + 1;
  const std::size_t end = text.find("<!-- end -->", begin);
  if (mark == std::string::npos || end == std::string::npos) return "no place for the table " + name;
  return text.substr(0, begin) + table + "\n" + text.substr(end);
}

TEST(ShardingTable, IsWhatTheSolutionsDo) {
  const std::string path = kSource + "/docs/reference/sharding.md";
  const Tables now = tables();
  const std::string document = read(path);
  std::string expected = with_table(document, "measured", now.measured);
  expected = with_table(with_table(expected, "links", now.links), "estimated", now.estimated);
  if (std::getenv("SHARDLINGS_WRITE_TABLES") != nullptr) std::ofstream(path) << expected;
  EXPECT_EQ(read(path), expected) << "the tables are out of date: run this test with SHARDLINGS_WRITE_TABLES=1";
}

}  // namespace
}  // namespace shardlings::grading
