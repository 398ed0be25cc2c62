// The commands that lessons and guides show: each of them says a case that there can be. What comes of it is told
// there, and takes too long to be run here.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/text.h"
#include "simulation/sweep.h"

namespace shardlings::simulation {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = SHARDLINGS_SOURCE_FOLDER;
const Files kProjectFiles = {kFolder + "/runtime/memory_map/models.toml", kFolder + "/runtime/front/clock/clusters",
                             kFolder + "/runtime/front/clock/stacks"};

/// The words behind "./shardlings simulate"; what stands in quotes is one of them.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// Commands of a text that have options, each on one line.
std::vector<std::string> commands_in(std::string text) {
  for (std::size_t at = text.find("\\\n"); at != std::string::npos; at = text.find("\\\n", at))
    text.replace(at, 2, " ");
  const std::string begin = "./shardlings simulate ";
  std::vector<std::string> commands;
  for (const std::string& line : lines_of(text)) {
    const std::size_t at = line.find(begin);
    if (at == std::string::npos || line.find(" --") == std::string::npos) continue;
    commands.push_back(line.substr(at + begin.size(), line.find('`', at) - at - begin.size()));
  }
  return commands;
}

struct Asked {
  std::string puzzle, sweep;
  Wish wish;
};

/// Throws std::runtime_error for an option that this test does not know.
Asked asked_by(const std::string& command) {
  Asked asked;
  Wish& wish = asked.wish;
  const std::map<std::string, std::function<void(const std::string&)>> values = {
      {"--parallel", [&](const std::string& text) { wish.parallel = text; }},
      {"--model", [&](const std::string& text) { wish.model = text; }},
      {"--cluster", [&](const std::string& text) { wish.cluster = text; }},
      {"--precision", [&](const std::string& text) { wish.precision = text; }},
      {"--recompute", [&](const std::string& text) { wish.recompute = text; }},
      {"--stack", [&](const std::string& text) { wish.stack = text; }},
      {"--case", [&](const std::string& text) { wish.base = text; }},
      {"--set", [&](const std::string& text) { wish.set.push_back(text); }},
      {"--sweep", [&](const std::string& text) { asked.sweep = text; }},
      {"--ranks", [&](const std::string& text) { wish.ranks = std::stoi(text); }},
      {"--micro-batches", [&](const std::string& text) { wish.micro_batches = std::stoi(text); }},
      {"--batch", [&](const std::string& text) { wish.batch = std::stoll(text); }},
      {"--global-batch", [&](const std::string& text) { wish.global_batch = std::stoll(text); }}};
  const std::set<std::string> flags = {"--solution", "--unlimited", "--fold", "--ideal", "--no-sequence-parallel"};
  const std::vector<std::string> words = words_of(command);
  asked.puzzle = words.at(0);
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (flags.contains(words[i])) continue;
    const auto option = values.find(words[i]);
    if (option == values.end()) throw std::runtime_error("this test does not know " + words[i]);
    option->second(words.at(++i));
  }
  return asked;
}

/// "09" as its folder is called.
cases::Manifest puzzle_of(const std::string& number) {
  for (const auto& entry : fs::directory_iterator(kFolder + "/puzzles")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(number + "_")) return cases::load_manifest(entry.path().string(), kProjectFiles.clusters);
  }
  throw std::runtime_error("there is no puzzle " + number);
}

void try_command(const std::string& command) {
  const Asked asked = asked_by(command);
  const cases::Manifest puzzle = puzzle_of(asked.puzzle);
  if (asked.sweep.empty()) {
    wished_case(puzzle, asked.wish, kProjectFiles);
  } else {
    points_of(puzzle, asked.wish, parse_sweep(asked.sweep), kProjectFiles);
  }
}

TEST(LessonCommands, SayCasesThatThereCanBe) {
  int count = 0;
  for (const char* folder : {"/puzzles", "/docs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kFolder + folder)) {
      if (entry.path().extension() != ".md") continue;
      for (const std::string& command : commands_in(read_whole_file(entry.path().string()))) {
        ++count;
        EXPECT_NO_THROW(try_command(command)) << entry.path() << ": " << command;
      }
    }
  }
  EXPECT_GT(count, 30);
}

TEST(LessonCommands, ThatCannotBeAreSeen) {
  const auto commands =
      commands_in("```\n./shardlings simulate 38 --ranks 8 \\\n    --model llama-405b --cluster dgx_h100\n```\n");
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_THROW(try_command(commands[0]), std::runtime_error) << "Llama's matrices are others";
  EXPECT_THROW(try_command("38 --rnaks 8"), std::runtime_error);
  EXPECT_NO_THROW(try_command("40 --case \"3 ranks, equal matrices\" --ranks 8"));
}

}  // namespace
}  // namespace shardlings::simulation
