#include "grading/grader_options.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>

namespace shardlings::grading {
namespace {

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error(fmt::format("--seed {}: not a whole number", text));
  }
  return seed;
}

}  // namespace

GraderOptions parse_grader_options(int argc, char** argv) {
  GraderOptions options;
  const std::map<std::string, std::string*> texts = {
      {"--submission", &options.submission}, {"--manifest", &options.manifest}, {"--clusters", &options.clusters},
      {"--verdict", &options.verdict},       {"--traces", &options.traces},     {"--case", &options.case_name}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--wait-for-submission") {
      options.wait_for_submission = true;
      continue;
    }
    const auto text = texts.find(name);
    if (text == texts.end() && name != "--seed") throw std::runtime_error(fmt::format("unknown option {}", name));
    if (++i == argc) throw std::runtime_error(fmt::format("{} needs a value", name));
    if (name == "--seed") {
      options.seed = parse_seed(argv[i]);
    } else {
      *text->second = argv[i];
    }
  }
  if (options.manifest.empty() || options.clusters.empty()) {
    throw std::runtime_error(
        "usage: grader_<id> --submission PROGRAM --manifest PUZZLE --clusters FOLDER [--verdict FILE]");
  }
  return options;
}

std::vector<std::string> to_arguments(const GraderOptions& options) {
  std::vector<std::string> arguments = {"--submission", options.submission, "--manifest", options.manifest,
                                        "--clusters",   options.clusters,   "--verdict",  options.verdict,
                                        "--traces",     options.traces};
  if (!options.case_name.empty()) arguments.insert(arguments.end(), {"--case", options.case_name});
  if (options.seed) arguments.insert(arguments.end(), {"--seed", std::to_string(*options.seed)});
  if (options.wait_for_submission) arguments.push_back("--wait-for-submission");
  return arguments;
}

void write_verdict(const Verdict& verdict, const GraderOptions& options) {
  if (!options.traces.empty()) write_traces(verdict, options.traces);
  if (options.verdict.empty()) return;
  const std::string temporary = options.verdict + ".new";
  std::ofstream file(temporary, std::ios::binary);
  if (!(file << to_json(verdict) << '\n').flush()) throw std::runtime_error(fmt::format("cannot write {}", temporary));
  file.close();
  std::filesystem::rename(temporary, options.verdict);
}

}  // namespace shardlings::grading
