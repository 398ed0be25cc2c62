// docs/reference/sharding.md: what the solutions of the sharded puzzles hold and send, beside the formulas.
//
// With SHARDLINGS_WRITE_TABLES=1 in the environment the tables of the document are written anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "grading/build_submission.h"
#include "grading/manifest.h"
#include "grading/memory_map/memory_map.h"
#include "grading/sharding.h"
#include "grading/step_cost.h"
#include "grading/supervisor.h"

namespace shardlings::grading {
namespace {

namespace fs = std::filesystem;

const std::string kSource = SHARDLINGS_SOURCE_FOLDER;

/// A row of the tables.
struct Scheme {
  const char* name;
  const char* puzzle;
  int zero;
  bool clips;  ///< sends the norm
};
constexpr Scheme kSchemes[] = {{"data parallel", "09_data_parallel", 0, false},
                               {"ZeRO-1", "11_zero1", 1, true},
                               {"ZeRO-2", "12_zero2", 2, true},
                               {"ZeRO-3", "13_zero3_fsdp", 3, false}};
constexpr int kRanks[] = {2, 4, 8};

/// A GPT whose layers N does not divide.
Case example(const Toolchain& toolchain, int ranks) {
  Case kase = load_manifest(kSource + "/puzzles/13_zero3_fsdp", toolchain.clusters).cases.front();
  kase.name = "table";
  kase.ranks = ranks;
  kase.batch = 2;
  kase.uneven_tokens = false;
  kase.model = {};
  kase.model.family = ModelSpec::Family::gpt;
  kase.model.layers = 4;
  kase.model.hidden = 30;
  kase.model.heads = 3;
  kase.model.outputs = 61;
  kase.model.sequence = 16;
  kase.model.optimizer = ModelSpec::Optimizer::adam;
  kase.model.clip = 1;
  return kase;
}

Result run_solution(const Toolchain& toolchain, const Scheme& scheme, const Case& kase) {
  const std::string puzzle = kSource + "/puzzles/" + scheme.puzzle;
  const fs::path folder = fs::path(testing::TempDir()) / ("sharding_table_" + std::string(scheme.puzzle));
  fs::create_directories(folder);
  const BuildOutcome built =
      build_submission(toolchain, scheme.puzzle, kSource + "/solutions/" + scheme.puzzle + "/solution.cpp",
                       puzzle + "/harness.cpp", folder.string());
  EXPECT_TRUE(built.built) << built.log;
  Case own = kase;
  own.puzzle = scheme.puzzle;
  return run_case(built.program, own, default_limits(kase.ranks));
}

std::int64_t bytes_of(const front::Counters& counters, Kind kind) {
  return counters.peak_by_kind[static_cast<std::size_t>(kind)].value();
}

/// The peak of every rank, kind by kind, and its bytes are those of the formulas.
void expect_formulas(const Scheme& scheme, const Case& kase, const Result& result) {
  const std::int64_t ids = layer_bytes(kase).front().input;  // the copy of the token ids is no activation
  for (int rank = 0; rank < kase.ranks; ++rank) {
    SCOPED_TRACE(fmt::format("{}, {} ranks, rank {}", scheme.name, kase.ranks, rank));
    const front::Counters& counters = result.report.ranks[static_cast<std::size_t>(rank)].counters;
    const StepPeak peak = step_peak(kase, rank, scheme.zero);
    EXPECT_EQ(counters.peak.value(), peak.total());
    EXPECT_EQ(bytes_of(counters, Kind::parameter), peak.weights + peak.gathered_weights);
    EXPECT_EQ(bytes_of(counters, Kind::gradient), peak.gradients + peak.unreduced);
    EXPECT_EQ(bytes_of(counters, Kind::optimizer), peak.optimizer);
    EXPECT_EQ(bytes_of(counters, Kind::activation), peak.kept + peak.own - ids);
    EXPECT_EQ(counters.bytes_sent().value(),
              step_bytes(kase, rank, scheme.zero) + (scheme.clips ? all_reduce_bytes_of_one(kase, rank) : 0));
  }
}

std::string measured_row(const Scheme& scheme, const Case& kase, const Result& result) {
  const front::Counters& counters = result.report.ranks.front().counters;
  const std::int64_t sent = step_bytes(kase, 0, scheme.zero) + (scheme.clips ? all_reduce_bytes_of_one(kase, 0) : 0);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", kase.ranks, scheme.name,
                     bytes_of(counters, Kind::parameter), bytes_of(counters, Kind::gradient),
                     bytes_of(counters, Kind::optimizer), bytes_of(counters, Kind::activation),
                     bytes_of(counters, Kind::other), counters.peak.value(), step_peak(kase, 0, scheme.zero).total(),
                     counters.bytes_sent().value(), sent);
}

std::string estimated_row(const Scheme& scheme, const Case& kase, const Result& result) {
  Transformer model;
  model.layers = kase.model.layers;
  model.hidden = kase.model.hidden;
  model.heads = kase.model.heads;
  model.vocabulary = kase.model.outputs;
  model.sequence = kase.model.sequence;
  model.tied = false;
  Training training;
  training.precision = precision_of("f32");
  training.kept_by = KeptBy::shardlings;
  training.micro_batch = kase.batch;
  Parallel parallel;
  parallel.dp = kase.ranks;
  parallel.zero = scheme.zero;
  const std::int64_t estimate = map_memory(model, parallel, training).fullest().total().value();
  const std::int64_t peak = result.report.ranks.front().counters.peak.value();
  return fmt::format("| {} | {} | {} | {} | {:+.1f} % |\n", kase.ranks, scheme.name, estimate, peak,
                     100.0 * static_cast<double>(estimate - peak) / static_cast<double>(peak));
}

/// Both tables.
struct Tables {
  std::string measured, estimated;
};

Tables tables() {
  const Toolchain toolchain = load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const Case first = example(toolchain, 2);
  Tables all;
  all.measured = fmt::format(
      "\nA GPT of {} blocks, h = {}, {} heads, V = {}, in f32; {} sequences of {} tokens on each rank; Adam; rank 0; "
      "bytes.\nW = {}.\n\n"
      "| N | | weights | gradients | moments | activations | other | peak | formula | sent | formula |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n",
      first.model.layers, first.model.hidden, first.model.heads, first.model.outputs, first.batch, first.model.sequence,
      weight_bytes(layer_bytes(first)));
  all.estimated = "\n| N | | map of memory | measured peak | difference |\n|---|---|---|---|---|\n";
  for (const int ranks : kRanks) {
    const Case kase = example(toolchain, ranks);
    for (const Scheme& scheme : kSchemes) {
      const Result result = run_solution(toolchain, scheme, kase);
      EXPECT_EQ(result.ending, Ending::finished) << result.explanation;
      if (result.ending != Ending::finished) return all;
      expect_formulas(scheme, kase, result);
      all.measured += measured_row(scheme, kase, result);
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
  const std::string expected = with_table(with_table(document, "measured", now.measured), "estimated", now.estimated);
  if (std::getenv("SHARDLINGS_WRITE_TABLES") != nullptr) std::ofstream(path) << expected;
  EXPECT_EQ(read(path), expected) << "the tables are out of date: run this test with SHARDLINGS_WRITE_TABLES=1";
}

}  // namespace
}  // namespace shardlings::grading
