/// \file
/// Other programs, started without a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlings::cli::system {

struct Captured {
  int status = 127;    ///< exit status; 127: not started; 128 + n: killed by signal n
  std::string output;  ///< what it wrote to its standard output
};

/// Runs a program found on the PATH and takes its output; its errors go nowhere and its input is empty.
Captured capture(const std::vector<std::string>& command);

/// Runs a program on this program's own terminal and returns its exit status as Captured::status.
int run_program(const std::vector<std::string>& command);

/// Gives a program a text as its standard input; the rest is as for run_program.
int feed_program(const std::vector<std::string>& command, std::string_view text);

/// The path of a program on the PATH; empty if there is none.
std::string program_path(const std::string& name);

}  // namespace shardlings::cli::system
