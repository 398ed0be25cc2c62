/// \file
/// Numbers of a case by name, to play with: `--set bucket=300`.
#pragma once

#include <string>
#include <vector>

#include "case/case.h"

namespace shardlings::cases {

/// "bucket=300": a number of a case and what it is to be.
struct NamedNumber {
  std::string name;
  double value = 0;
};
/// Throws std::runtime_error that says what `option` takes.
NamedNumber number_from(const std::string& option, const std::string& text);

/// What set_number() takes: the case's own numbers, and those that every case has, under the keys of puzzle.toml.
std::vector<std::string> names_of_numbers(const Case& kase);

/// Puts a value in the place of a number: one of the case's own (`bucket`), of its batch (`batch`, `micro_batches`,
/// `steps`), of its model (`layers`, `hidden`, `outputs`, `sequence`, `heads`), of its table of calls
/// (`forward_ns`, `backward_ns`), or of all its links (`latency_ns`, `bytes_per_second`). Throws std::runtime_error if
/// the case has no such number, or the number cannot be that.
void set_number(Case& kase, const NamedNumber& number);

}  // namespace shardlings::cases
