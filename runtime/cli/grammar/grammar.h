/// \file
/// What may be written on the command line, as data: what help, completion and man page are made of.
#pragma once

#include <string>
#include <vector>

namespace shardlings::cli::grammar {

/// An option, or an argument without a name.
struct Option {
  std::vector<std::string> names;  ///< "-v", "--verbose"; of an argument its one name in capitals
  std::string form;                ///< of its value: "TEXT"; empty: it takes none
  std::string meaning;
  bool required = false;
};

struct Verb {
  std::string name;
  std::string meaning;
  std::vector<Option> options;
  std::vector<Option> arguments;  ///< those without a name, in their order

  /// Whether a puzzle is one of its arguments.
  bool takes_puzzle() const {
    for (const Option& argument : arguments) {
      if (argument.names.front() == "PUZZLE") return true;
    }
    return false;
  }
};

struct Grammar {
  std::string meaning;
  std::string footer;           ///< what the help says at its end
  std::vector<Option> options;  ///< of every verb
  std::vector<Verb> verbs;      ///< in the order of the help
};

}  // namespace shardlings::cli::grammar
