#include "cli/submissions/class_page.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "grading/judge/diagnosis.h"
#include "report/harmless.h"
#include "report/plain_page.h"

namespace shardlings::cli::submissions {
namespace {

using report::markup;

/// Each colour brings its own ink, so that both colour schemes can read it (WCAG 2.1, 1.4.3); the words say the same.
constexpr const char* kClassStyle = R"CSS(body { max-width: 90rem; }
.marks td { border: 2px solid transparent; background-clip: padding-box; }
.marks { border-collapse: separate; border-spacing: 0; }
.whole { overflow: auto; max-height: 85vh; }
.marks th { position: sticky; top: 0; background: Canvas; z-index: 1; }
.marks th[scope=row], .marks th.name { text-align: left; left: 0; max-width: min(16rem, 30vw); overflow: hidden;
  text-overflow: ellipsis; }
.marks th[scope=row] { top: auto; } .marks th.name { z-index: 2; }
.legend span { padding: .1rem .4rem; margin: 0 .3rem 0 .8rem; } .legend { line-height: 1.9; }
.passed { background-color: #1c7c3c; color: #fff; } .failed { background-color: #fde3b0; color: #3b2a05; }
.not_implemented, .missing { background-color: #e4e4e7; color: #3f3f46; }
.did_not_build { background-color: #f6c9c4; color: #4a120c; } .not_judged { background-color: #6b21a8; color: #fff; }
.late::after { content: " late"; font-size: .75em; }
.bar { display: inline-block; height: .7em; background-color: #2f62c9; margin-right: .5em; vertical-align: baseline; }
h3 { font-size: 1rem; margin: 1.5rem 0 0; } h4 { font-size: .9rem; margin: .8rem 0 0; } ul { list-style: none; padding-left: 0; }
li { margin: .3rem 0; } details summary { cursor: pointer; } .who { display: block; padding-left: 1.2rem; }
.timelines { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figure img { width: 100%; border: 1px solid GrayText; } figcaption { font-size: .85rem; }
)CSS";

/// What stands in a cell.
std::string cell_text(const Mark& mark) {
  switch (mark.outcome) {
    case Outcome::passed:
    case Outcome::failed: return std::to_string(mark.points);
    case Outcome::not_implemented: return "not begun";
    case Outcome::did_not_build: return "no build";
    case Outcome::missing: return "–";
    case Outcome::not_judged: return "?";
  }
  return "";
}

/// What a pointer on it is told.
std::string cell_words(const Mark& mark) {
  std::string words = kOutcomeWords.of(mark.outcome);
  std::replace(words.begin(), words.end(), '_', ' ');
  if (!mark.failed.empty()) words += fmt::format(": {}", fmt::join(mark.failed, ", "));
  if (!mark.reason.empty()) words += ": " + mark.reason;
  return words;
}

/// The id that a case has which was not run, since those before it have said enough: no mistake of anybody's.
constexpr const char* kNotRun = "not_run";

std::string number_of(const cases::Manifest& puzzle) {
  return fmt::format("{:02}", puzzle.number);
}

/// What a cell may say, in its colours.
constexpr const char* kLegend = R"(<p class="legend">A number: the points.
<span class="passed">100</span>passed <span class="failed">60</span>failed
<span class="not_implemented">not begun</span>the stub as it was handed out
<span class="did_not_build">no build</span>the compiler refuses it <span class="missing">–</span>nothing was handed in
<span class="not_judged">?</span>not judged: no points, and no total <span class="late">85</span>after the time that was due.
A pointer on a cell is told why.</p>
)";

std::string marks_table(const Gradebook& book, const std::vector<cases::Manifest>& puzzles) {
  std::string html =
      "<h2>Marks</h2>\n<div class=\"whole\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Marks\"><table class=\"marks\">\n<tr><th class=\"name\" "
      "scope=\"col\">student</th>";
  for (const cases::Manifest& puzzle : puzzles) {
    html += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>", markup(puzzle.title), number_of(puzzle));
  }
  html += "<th scope=\"col\">total</th></tr>\n";
  for (const Row& row : book.rows) {
    html += fmt::format("<tr><th scope=\"row\" title=\"{0}\">{0}</th>",
                        markup(row.student + (row.name.empty() ? "" : " " + row.name)));
    for (const Mark& mark : row.marks) {
      html += fmt::format("<td class=\"{}{}\" title=\"{}\">{}</td>", kOutcomeWords.of(mark.outcome),
                          mark.late ? " late" : "", markup(cell_words(mark)), cell_text(mark));
    }
    const std::optional<double> total = total_of(book, row);
    html += fmt::format("<td>{}</td></tr>\n", total ? fmt::format("{:.4g} of {:.4g}", *total, most_of(book, row))
                                                    : std::string("not judged"));
  }
  return html + "</table></div>\n" + kLegend;
}

/// "12 passed, 3 failed, 1 missing".
std::string outcomes_of(const Gradebook& book, std::size_t column) {
  std::array<int, 6> counts{};
  for (const Row& row : book.rows) ++counts[static_cast<std::size_t>(row.marks[column].outcome)];
  std::vector<std::string> words;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    std::string word = kOutcomeWords.of(static_cast<Outcome>(i));
    std::replace(word.begin(), word.end(), '_', ' ');
    words.push_back(fmt::format("{} {}", counts[i], word));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string list_of(const std::vector<Stumble>& stumbles, std::size_t students) {
  std::string html = "<ul>\n";
  for (const Stumble& one : stumbles) {
    std::vector<std::string> who;
    for (const std::string& student : one.students) who.push_back(markup(student));
    constexpr double kLongest = 12;  // rem
    html += fmt::format(
        "<li><details><summary><span class=\"bar\" style=\"width: {:.2f}rem\"></span>{} of {}: {}</summary>"
        "<span class=\"who\">{}</span></details></li>\n",
        kLongest * static_cast<double>(who.size()) / static_cast<double>(students), who.size(), students,
        markup(one.what), fmt::join(who, ", "));
  }
  return html + "</ul>\n";
}

/// Of those that a word was said of: whom, by what was said. The most frequent first, others as `order` has them.
std::vector<Stumble> counted(const Gradebook& book, std::size_t column,
                             const std::vector<std::pair<std::string, std::string>>& order,
                             const std::function<const std::vector<std::string>&(const Mark&)>& said) {
  std::vector<Stumble> stumbles;
  for (const auto& [id, what] : order) {
    Stumble one{what, {}};
    for (const Row& row : book.rows) {
      if (row.marks[column].outcome != Outcome::failed) continue;  // what does not run fails everywhere
      const std::vector<std::string>& ids = said(row.marks[column]);
      if (std::find(ids.begin(), ids.end(), id) != ids.end()) one.students.push_back(row.student);
    }
    if (!one.students.empty()) stumbles.push_back(std::move(one));
  }
  std::stable_sort(stumbles.begin(), stumbles.end(),
                   [](const Stumble& a, const Stumble& b) { return a.students.size() > b.students.size(); });
  return stumbles;
}

/// The ids of diagnoses that were told of a puzzle, in the order in which they come.
std::vector<std::pair<std::string, std::string>> told_of(const Gradebook& book, std::size_t column,
                                                         const cases::Manifest& puzzle) {
  std::vector<std::pair<std::string, std::string>> told;
  for (const Row& row : book.rows) {
    for (const std::string& id : row.marks[column].diagnoses) {
      if (id == kNotRun) continue;
      const std::string text = grading::judge::diagnosis_text(puzzle, id);
      const auto is_known = [&id](const auto& one) { return one.first == id; };
      if (text.empty() || std::any_of(told.begin(), told.end(), is_known)) continue;
      told.emplace_back(id, text);
    }
  }
  return told;
}

/// All pictures of a puzzle, so that one sees who does it in another way.
std::string timelines_of(const Gradebook& book, std::size_t column) {
  std::string figures;
  for (const Row& row : book.rows) {
    const Mark& mark = row.marks[column];
    if (mark.picture.empty()) continue;
    figures += fmt::format(
        "<figure><a href=\"{0}\"><img src=\"{0}\" loading=\"lazy\" alt=\"Timeline of {1}\"></a><figcaption>{2}: {3}"
        "</figcaption></figure>\n",
        markup(mark.picture), markup(row.student), markup(row.student), markup(cell_words(mark)));
  }
  if (figures.empty()) return "";
  return "<details><summary>Timelines side by side</summary>\n<div class=\"timelines\">\n" + figures +
         "</div></details>\n";
}

}  // namespace

Stumbles stumbles_of(const Gradebook& book, const cases::Manifest& puzzle) {
  const auto found = std::find(book.puzzles.begin(), book.puzzles.end(), puzzle.id);
  if (found == book.puzzles.end()) return {};
  const auto column = static_cast<std::size_t>(found - book.puzzles.begin());
  std::vector<std::pair<std::string, std::string>> checks;
  for (const cases::CheckSpec& check : puzzle.checks) checks.emplace_back(check.id, check.title);
  return {
      counted(
          book, column, checks, [](const Mark& mark) -> const auto& { return mark.failed; }),
      counted(
          book, column, told_of(book, column, puzzle), [](const Mark& mark) -> const auto& { return mark.diagnoses; })};
}

/// Files that several students have handed in alike.
static std::string alike_text(const Gradebook& book) {
  std::string items;
  for (const Alike& one : alike_in(book)) {
    std::vector<std::string> who;
    for (const std::string& student : one.students) who.push_back(markup(student));
    items += fmt::format("<li>{}: {}</li>\n", markup(one.puzzle), fmt::join(who, ", "));
  }
  return items.empty() ? "" : "<h2>The same file, byte for byte</h2>\n<ul>\n" + items + "</ul>\n";
}

std::string class_page(const Gradebook& book, const std::vector<cases::Manifest>& puzzles, const std::string& title) {
  std::string body = marks_table(book, puzzles) + alike_text(book) + "<h2>Where the class fails</h2>\n";
  for (std::size_t i = 0; i < puzzles.size(); ++i) {
    body += fmt::format("<h3>{} {}</h3>\n<p>{}</p>\n", number_of(puzzles[i]), markup(puzzles[i].title),
                        outcomes_of(book, i));
    const Stumbles stumbles = stumbles_of(book, puzzles[i]);
    if (!stumbles.checks.empty()) body += "<h4>Checks that fail</h4>\n" + list_of(stumbles.checks, book.rows.size());
    if (!stumbles.diagnoses.empty()) {
      body += "<h4>Mistakes that were named</h4>\n" + list_of(stumbles.diagnoses, book.rows.size());
    }
    body += timelines_of(book, i);
  }
  const auto several = [](std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  const std::string subtitle =
      fmt::format("{}, {}{}", several(book.rows.size(), "student"), several(puzzles.size(), "puzzle"),
                  book.due.empty() ? "" : ", due " + book.due);
  return report::plain_page(title, subtitle, kClassStyle, body);
}

}  // namespace shardlings::cli::submissions
