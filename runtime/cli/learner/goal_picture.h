/// \file
/// A puzzle's goal as pictures: the run of its solution that goal.json holds (grading/verdict/run_file.h).
#pragma once

#include <optional>
#include <string>

#include "case/manifest.h"
#include "cli/context.h"
#include "grading/verdict/verdict.h"

namespace shardlings::cli::learner {

/// What a lesson says where the picture belongs: "(goal.svg)", the address of an image.
inline constexpr const char* kGoalAddress = "(goal.svg)";

/// The puzzle's goal; nothing where there is none, or none that can be read: then the errors say so.
std::optional<grading::verdict::Verdict> load_goal(const Context& context, const cases::Manifest& puzzle);

/// What goal.svg must hold; empty if nothing of the goal ran.
std::string goal_picture(const cases::Manifest& puzzle, const grading::verdict::Verdict& goal);

/// The lesson with its image of the goal drawn in characters, with what it cost or, before the pass, without: `predict`
/// asks for that. As it was where there is no goal that can be read.
std::string with_goal(const Context& context, const cases::Manifest& puzzle, const std::string& lesson, bool figures);

}  // namespace shardlings::cli::learner
