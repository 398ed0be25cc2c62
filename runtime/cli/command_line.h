/// \file
/// The table of verbs as the command line knows it: each verb adds its name, its options and its function. Only
/// command_line.cpp knows the library that reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/context.h"
#include "cli/grammar/grammar.h"
#include "shardlings/tensor.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shardlings::cli {

inline constexpr const char* kPuzzleMeaning = "number, id or a part of the name; without one: the next puzzle";
inline constexpr const char* kLastPuzzleMeaning =
    "number, id or a part of the name; without one: the one that was run last";
inline constexpr const char* kNamedPuzzleMeaning = "number, id or a part of the name";
inline constexpr const char* kJsonMeaning = "print JSON, for programs";
inline constexpr const char* kBackendMeaning =
    "cpu, cuda (ranks share a GPU), nccl (a GPU for each rank), mpi (ranks in several processes) or auto; without it: "
    "SHARDLINGS_BACKEND, or cpu";
inline constexpr const char* kJailMeaning =
    "each rank's code in a process of its own, apart from counters and verdict: for code that is not trusted";

/// Numbers that an option takes, both ends included.
struct Interval {
  Count least, most;
};

/// Whether the help says what holds without the option.
enum class Default : std::uint8_t { hidden, shown };

/// The options of one verb. A name is "--long" or "-s,--long"; each value has to live as long as the command line.
class VerbOptions {
 public:
  explicit VerbOptions(CLI::App* verb) : verb_(verb) {}

  /// An argument without a name, which may be left out.
  void positional(const char* name, std::string& value, const char* meaning);
  void positional(const char* name, std::vector<std::string>& values, const char* meaning);
  /// One that may not.
  void required(const char* name, std::string& value, const char* meaning);

  void flag(const char* name, bool& value, const char* meaning);
  void text(const char* name, std::string& value, const char* meaning, Default shown = Default::hidden);
  /// An option that may be given several times, or with several values.
  void texts(const char* name, std::vector<std::string>& values, const char* meaning);
  /// The same, with values of this form. What a verb requires after it is left to the verb.
  void several(const char* name, std::vector<std::string>& values, const char* form, const char* meaning);
  /// One that may be given several times, with one value of this form each.
  void each(const char* name, std::vector<std::string>& values, const char* form, const char* meaning);

  void number(const char* name, int& value, const char* meaning, Interval interval, Default shown = Default::hidden);
  void number(const char* name, Count& value, const char* meaning, Interval interval, Default shown = Default::hidden);
  void number(const char* name, std::uint64_t& value, const char* meaning);
  void number(const char* name, std::optional<std::uint64_t>& value, const char* meaning);
  void positive(const char* name, float& value, const char* meaning);

  /// These two options are not given together.
  void excludes(const char* name, const char* other);

 private:
  CLI::App* verb_;
};

/// What was asked for: the chosen verb with its options, ready to be called.
using ChosenVerb = std::function<int(const Context&)>;

class CommandLine {
 public:
  /// `chosen` becomes what the arguments ask for, once they are read.
  CommandLine(CLI::App& app, ChosenVerb& chosen) : app_(app), chosen_(chosen) {}

  /// Adds a verb. The options, default-constructed, are `function`'s; they live as long as it.
  template <typename Options>
  std::pair<Options&, VerbOptions> verb(const char* name, const char* meaning,
                                        int (*function)(const Context&, const Options&)) {
    auto options = std::make_shared<Options>();
    const auto call = [options, function](const Context& context) { return function(context, *options); };
    return {*options, VerbOptions(add(name, meaning, call))};
  }

 private:
  CLI::App* add(const char* name, const char* meaning, ChosenVerb chosen);

  CLI::App& app_;
  ChosenVerb& chosen_;
};

/// All that the command line knows, as data.
grammar::Grammar grammar_of(const CLI::App& app);

}  // namespace shardlings::cli
