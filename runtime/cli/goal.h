/// \file
/// A puzzle's goal as pictures: the run of its solution that goal.json holds (grading/run_file.h).
#pragma once

#include <string>

#include "cli/context.h"
#include "grading/manifest.h"
#include "grading/verdict.h"

namespace shardlings::cli {

/// What a lesson says where the picture belongs: "(goal.svg)", the address of an image.
inline constexpr const char* kGoalAddress = "(goal.svg)";

/// What goal.svg must hold; empty if nothing of the goal ran.
std::string goal_picture(const grading::Manifest& puzzle, const grading::Verdict& goal);

/// The lesson with its image of the goal drawn in characters. As it was where there is no goal that can be read.
std::string with_goal(const Context& context, const grading::Manifest& puzzle, const std::string& lesson);

}  // namespace shardlings::cli
