#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "report/harmless.h"
#include "site/course_pages.h"

namespace shardlings::site {

using cases::Hint;
using cases::HintLevel;
using cases::Manifest;
using report::markup;

namespace {

/// What a hint of that level is about, for somebody who decides whether to open it.
std::string promise_of(HintLevel level) {
  switch (level) {
    case HintLevel::concept_: return "the idea";
    case HintLevel::where: return "where it goes";
    case HintLevel::invariant: return "what must be true";
    case HintLevel::near_code: return "nearly the code";
  }
  return {};
}

/// The command to start with, and the file to edit.
std::string beginning_of(const Manifest& puzzle) {
  const std::string number = number_of(puzzle);
  return fmt::format(
      "<div class=\"beginning\">\n<p>{}</p>\n<dl>\n"
      "<div><dt>Start it</dt><dd><code>./shardlings watch {}</code></dd></div>\n"
      "<div><dt>Your file</dt><dd><code>puzzles/{}/puzzle.cpp</code>, about {} lines</dd></div>\n"
      "<div><dt>Predict first</dt><dd><code>./shardlings predict {}</code></dd></div>\n"
      "<div><dt>Points</dt><dd>{}</dd></div>\n</dl>\n</div>\n",
      markup(puzzle.summary), number, markup(puzzle.id), puzzle.answer_lines, number, puzzle.max_points());
}

/// Each hint lies in the fold of the one before it, so they open one after another.
std::string hints_of(const Manifest& puzzle, std::size_t first, const Surroundings& around) {
  if (first == puzzle.hints.size()) return {};
  const Hint& hint = puzzle.hints[first];
  return fmt::format("<details class=\"hint\">\n<summary>Hint {} of {}: {}</summary>\n", first + 1, puzzle.hints.size(),
                     promise_of(hint.level)) +
         rendered_markdown(hint.text, around).html + hints_of(puzzle, first + 1, around) + "</details>\n";
}

std::string ladder_of(const Manifest& puzzle, Surroundings around) {
  around.path = "puzzles/" + puzzle.id + "/puzzle.toml";
  // Lines of near-code say what equals what and are no formulas.
  around.marked = false;
  return fmt::format(
             "<section class=\"ladder\">\n<h2 id=\"hints\">Hints</h2>\n"
             "<p>Each one gives away more than the one before it. <code>./shardlings hint {}</code> speaks to the "
             "mistake of your last run first.</p>\n",
             number_of(puzzle)) +
         hints_of(puzzle, 0, around) + "</section>\n";
}

/// The goal's picture shows what "Predict" asks, so a reader opens it on purpose.
void fold_goal(std::string& body) {
  const std::string end_of_heading = "</h2>\n";
  const std::size_t section = body.find("<h2 id=\"the-goal\"");
  if (section == std::string::npos) return;
  const std::size_t begin = body.find(end_of_heading, section) + end_of_heading.size();
  const std::size_t end = std::min(body.find("<h2 ", begin), body.size());
  body.insert(end, "</details>\n");
  body.insert(begin,
              "<details class=\"goal\">\n<summary>The goal as a picture: it answers what “Predict” asks</summary>\n");
}

}  // namespace

Page lesson_page(const Repository& repository, const Manifest& puzzle) {
  const std::string folder = "puzzles/" + puzzle.id;
  Page page = text_page(repository, folder + "/README.md", "Chapter " + puzzle.chapter);
  const std::string end = "</h1>\n";
  const std::size_t heading = page.body.find(end);
  page.body.insert(heading + end.size(), beginning_of(puzzle));
  fold_goal(page.body);
  page.body += ladder_of(puzzle, repository.surroundings(folder + "/README.md", page.address));
  page.sections.push_back({2, "hints", "Hints", ""});

  const std::string path = folder + "/after.md";
  if (!read_file(repository.root() + "/" + path)) return page;
  Surroundings around = repository.surroundings(path, page.address);
  around.prefix = kAfterPrefix;
  around.deeper = 1;
  Rendered after = rendered_markdown(repository.text(path), around);
  page.body += fmt::format(
      "<details class=\"after\" id=\"after\">\n<summary>After the pass: costs, common mistakes, production, "
      "answers</summary>\n<p class=\"note\">This part gives the answer away. Once your file has passed, "
      "<code>./shardlings explain {} --after</code> shows it in the terminal, too.</p>\n",
      number_of(puzzle));
  page.body += after.html + "</details>\n";
  page.folded = std::move(after.sections);
  page.sections.push_back({2, "after", "After the pass", ""});
  return page;
}

}  // namespace shardlings::site
