/// \file
/// A case in words, as far as somebody needs it who works its costs out by hand.
#pragma once

#include <string>
#include <vector>

#include "case/case.h"
#include "case/manifest.h"

namespace shardlings::cli::learner {

/// Sentences such as "N = 4 ranks; each has m = 1 micro-batch of b = 2 sequences of s = 8 tokens": ranks and batch, the
/// model with the weights of its layers, as far as the puzzle uses it, virtual times, links, and what else the puzzle
/// has named. Letters are those of the glossary.
std::vector<std::string> case_facts(const cases::Case& kase, const cases::Manifest& puzzle);

}  // namespace shardlings::cli::learner
