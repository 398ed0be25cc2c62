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

world::Backend parse_backend(const std::string& text) {
  const auto backend = world::backend_from(text);
  if (!backend) throw std::runtime_error(fmt::format("--backend {}: there is none of that name", text));
  return *backend;
}

/// Of an option without a value; false if it is none.
bool set_flag(GraderOptions& options, const std::string& name) {
  const std::map<std::string, std::function<void()>> flags = {
      {"--wait-for-submission", [&] { options.wait_for_submission = true; }},
      {"--secret-on-input", [&] { options.secret_on_input = true; }},
      {"--strangers-code", [&] { options.least_tier = 1; }},
      {kBeforeOption, [&] { options.predictions = verdict::When::before; }},
      {kAfterOption, [&] { options.predictions = verdict::When::after; }}};
  const auto flag = flags.find(name);
  if (flag == flags.end()) return false;
  flag->second();
  return true;
}

/// Where the values of options go.
std::map<std::string, std::function<void(const std::string&)>> takers_of(GraderOptions& options) {
  const auto text = [](std::string& into) { return [&into](const std::string& value) { into = value; }; };
  return {{"--submission", text(options.submission)},
          {"--jail", text(options.jail)},
          {"--manifest", text(options.manifest)},
          {"--clusters", text(options.clusters)},
          {"--verdict", text(options.verdict)},
          {"--traces", text(options.traces)},
          {"--source", text(options.source)},
          {"--mpi", text(options.mpi)},
          {"--set", [&](const std::string& value) { options.set.push_back(value); }},
          {"--case", [&](const std::string& value) { options.case_names.push_back(value); }},
          {"--seed", [&](const std::string& value) { options.seed = parse_seed(value); }},
          {"--backend", [&](const std::string& value) { options.backend = parse_backend(value); }}};
}

}  // namespace

GraderOptions parse_grader_options(int argc, char** argv) {
  GraderOptions options;
  const auto takers = takers_of(options);
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (set_flag(options, name)) continue;
    const auto taker = takers.find(name);
    if (taker == takers.end()) throw std::runtime_error(fmt::format("unknown option {}", name));
    if (++i == argc) throw std::runtime_error(fmt::format("{} needs a value", name));
    taker->second(argv[i]);
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
