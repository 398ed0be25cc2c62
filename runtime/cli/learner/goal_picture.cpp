#include "cli/learner/goal_picture.h"

#include <stdexcept>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/learner/course.h"
#include "grading/verdict/run_file.h"
#include "report/choice.h"
#include "report/svg.h"
#include "report/timeline_text.h"

namespace shardlings::cli::learner {
namespace {

// Code in a lesson is indented by so many columns.
constexpr int kIndent = 4;

/// The timeline in characters as a block of code; empty if there is nothing to draw.
std::string drawn(const Context& context, const grading::verdict::Verdict& goal, bool figures) {
  const grading::verdict::CaseVerdict* kase = report::case_to_show(goal);
  if (kase == nullptr) return "";
  report::TimelineText options;
  options.width = std::min(context.width, 100) - kIndent;
  options.title = "The goal: " + kase->kase.name;
  options.figures = figures;
  std::string text;
  for (const std::string& line :
       report::timeline_lines(*kase, report::Style(report::Colour::none, context.charset), options)) {
    text += line + "\n";
  }
  return text.empty() ? "" : "```\n" + text + "```\n";
}

}  // namespace

std::string goal_picture(const cases::Manifest& puzzle, const grading::verdict::Verdict& goal) {
  const grading::verdict::CaseVerdict* kase = report::case_to_show(goal);
  if (kase == nullptr) return "";
  // A lesson is read before the pass, and `predict` asks for what the summary says.
  const bool figures = false;
  return report::timeline_svg(*kase, fmt::format("{} {}: {}", short_name(puzzle), puzzle.title, kase->kase.name),
                              figures);
}

std::optional<grading::verdict::Verdict> load_goal(const Context& context, const cases::Manifest& puzzle) {
  const std::string path = context.project.goal_file(puzzle.id);
  const auto text = read_file(path);
  if (!text) return std::nullopt;
  try {
    return grading::verdict::run_from_text(*text, context.project.clusters());
  } catch (const std::runtime_error& error) {
    context.err << fmt::format("The picture of the goal is left out. {}: {}\n", system::shown_path(path), error.what());
    return std::nullopt;
  }
}

std::string with_goal(const Context& context, const cases::Manifest& puzzle, const std::string& lesson, bool figures) {
  const auto goal = load_goal(context, puzzle);
  const std::string picture = goal ? drawn(context, *goal, figures) : "";
  std::string result;
  for (const std::string& line : lines_of(lesson)) {
    const bool image = line.starts_with("![") && line.find(kGoalAddress) != std::string::npos;
    result += image && !picture.empty() ? picture : line + "\n";
  }
  return result;
}

}  // namespace shardlings::cli::learner
