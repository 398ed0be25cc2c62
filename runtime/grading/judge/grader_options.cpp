#include "grading/judge/grader_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "base/file.h"

namespace shardlings::grading::judge {
namespace {

// "record separator": begins no line that a person or GoogleTest writes.
constexpr char kProgressMark = '\x1e';

constexpr const char* kBeforeOption = "--predictions";
constexpr const char* kAfterOption = "--predictions-after";

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
      {"--submission", &options.submission}, {"--jail", &options.jail},       {"--manifest", &options.manifest},
      {"--clusters", &options.clusters},     {"--verdict", &options.verdict}, {"--traces", &options.traces},
      {"--source", &options.source},         {"--mpi", &options.mpi}};
  const std::map<std::string, bool*> flags = {{"--wait-for-submission", &options.wait_for_submission},
                                              {"--secret-on-input", &options.secret_on_input}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--strangers-code") {
      options.least_tier = 1;
      continue;
    }
    if (name == kBeforeOption || name == kAfterOption) {
      options.predictions = name == kAfterOption ? verdict::When::after : verdict::When::before;
      continue;
    }
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    const auto text = texts.find(name);
    if (text == texts.end() && name != "--seed" && name != "--backend" && name != "--set" && name != "--case")
      throw std::runtime_error(fmt::format("unknown option {}", name));
    if (++i == argc) throw std::runtime_error(fmt::format("{} needs a value", name));
    if (name == "--set") {
      options.set.emplace_back(argv[i]);
    } else if (name == "--case") {
      options.case_names.emplace_back(argv[i]);
    } else if (name == "--seed") {
      options.seed = parse_seed(argv[i]);
    } else if (name == "--backend") {
      const auto backend = world::backend_from(argv[i]);
      if (!backend) throw std::runtime_error(fmt::format("--backend {}: there is none of that name", argv[i]));
      options.backend = *backend;
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
                                        "--traces",     options.traces,     "--backend",  name_of(options.backend)};
  if (!options.source.empty()) arguments.insert(arguments.end(), {"--source", options.source});
  if (!options.mpi.empty()) arguments.insert(arguments.end(), {"--mpi", options.mpi});
  if (!options.jail.empty()) arguments.insert(arguments.end(), {"--jail", options.jail});
  if (options.least_tier > 0) arguments.emplace_back("--strangers-code");
  for (const std::string& name : options.case_names) arguments.insert(arguments.end(), {"--case", name});
  if (options.seed) arguments.insert(arguments.end(), {"--seed", std::to_string(*options.seed)});
  if (options.wait_for_submission) arguments.emplace_back("--wait-for-submission");
  for (const std::string& number : options.set) arguments.insert(arguments.end(), {"--set", number});
  if (options.predictions) {
    arguments.emplace_back(*options.predictions == verdict::When::after ? kAfterOption : kBeforeOption);
  }
  if (options.secret_on_input) arguments.emplace_back("--secret-on-input");
  return arguments;
}

std::string ready_line(const std::set<int>& call_lines) {
  // Line 0 holds no call. It says that the lines are known, even where there is none: of a file whose calls are all
  // made by a macro.
  return fmt::format("{} 0 {}\n", kReady, fmt::join(call_lines, " "));
}

std::string progress_line(int done, int total) {
  return fmt::format("{}{} {}\n", kProgressMark, done, total);
}

void ProgressReader::read(std::string_view output) {
  for (const char c : output) {
    if (c != '\n') {
      line_ += c;
      continue;
    }
    int done = 0, total = 0;
    if (line_.starts_with(kProgressMark) && std::sscanf(line_.c_str() + 1, "%d %d", &done, &total) == 2) {
      tell_(done, total);
    }
    line_.clear();
  }
}

std::string without_progress(const std::string& output) {
  std::string rest;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\n', begin), output.size() - 1) + 1;
    if (output[begin] != kProgressMark) rest.append(output, begin, end - begin);
    begin = end;
  }
  return rest;
}

void write_verdict(const verdict::Verdict& verdict, const std::string& verdict_path, const std::string& traces_path) {
  if (!traces_path.empty()) verdict::write_traces(verdict, traces_path);
  if (verdict_path.empty()) return;
  write_file_atomically(verdict_path, to_json(verdict) + '\n', Outlives::kill);
}

}  // namespace shardlings::grading::judge
