/// \file
/// A puzzle's texts as students may have them: without hidden cases, and without links to what they do not get.
#pragma once

#include <functional>
#include <string>

#include "case/manifest.h"

namespace shardlings::cli::kit {

/// puzzle.toml without its hidden cases and its comments, with its hints or without. Throws std::runtime_error where
/// that is no whole puzzle any more: all cases are hidden, or a milestone rests on hidden ones alone.
std::string public_manifest(const std::string& text, const cases::Manifest& puzzle, const std::string& clusters_folder,
                            bool with_hints = true);

/// goal.json without the runs of hidden cases. Throws std::runtime_error where it cannot be read.
std::string public_goal(const std::string& text, const cases::Manifest& puzzle, const std::string& clusters_folder);

/// Markdown in which links to files that are not `there` (a path as the link has it) are plain words. Code is left as
/// it is.
std::string without_dead_links(const std::string& markdown, const std::function<bool(const std::string&)>& there);

}  // namespace shardlings::cli::kit
