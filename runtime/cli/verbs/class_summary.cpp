#include "cli/verbs/class_summary.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/harmless.h"

namespace shardlings::cli::verbs {

using submissions::Gradebook;
using submissions::LeftOut;
using submissions::Mark;
using submissions::Outcome;
using submissions::Row;
using submissions::Student;

namespace {

constexpr std::size_t kMostLines = 4;  ///< of one student

std::string number_of(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string in_words(Outcome outcome) {
  std::string word = submissions::kOutcomeWords.of(outcome);
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

bool may_count(const Student& student) {
  return std::any_of(student.left_out.begin(), student.left_out.end(),
                     [](const LeftOut& one) { return one.may_count; });
}

}  // namespace

ClassSummary::ClassSummary(const Context& context, const submissions::Submissions& submissions)
    : context_(context), nobodys_(submissions.left_out) {
  for (const Student& student : submissions.students) {
    if (!student.left_out.empty()) doubtful_.push_back(student);
  }
}

void ClassSummary::tell(const std::string& text) const {
  context_.err << report::harmless_line(text, context_.charset) << '\n';
}

void ClassSummary::print_line(const std::string& text) const {
  context_.out << report::harmless_line(text, context_.charset) << '\n';
}

void ClassSummary::tell_of_left_out() const {
  for (const LeftOut& one : nobodys_) tell(fmt::format("left out: {}: {}", one.path, one.why));
  for (const Student& student : doubtful_) {
    std::vector<LeftOut> those = student.left_out;
    std::stable_partition(those.begin(), those.end(), [](const LeftOut& one) { return one.may_count; });
    for (std::size_t i = 0; i < std::min(those.size(), kMostLines); ++i) {
      tell(fmt::format("left out: {}: {}", those[i].path, those[i].why));
    }
    if (those.size() <= kMostLines) continue;
    tell(
        fmt::format("left out: {} of {}", number_of(those.size() - kMostLines, "more file", "more files"), student.id));
  }
}

void ClassSummary::tell_of_strangers(const std::vector<std::string>& students, const std::string& roster) const {
  for (const std::string& student : students) tell(fmt::format("not in {}: {}", roster, student));
}

void ClassSummary::print_counts(const Gradebook& book) const {
  print_line(fmt::format("{}, {}", number_of(book.rows.size(), "student", "students"),
                         number_of(book.puzzles.size(), "puzzle", "puzzles")));
  for (const Outcome outcome : {Outcome::passed, Outcome::failed, Outcome::not_implemented, Outcome::did_not_build,
                                Outcome::missing, Outcome::not_judged}) {
    if (const int count = count_of(book, outcome)) {
      context_.out << fmt::format("  {:<16}{:>5}\n", in_words(outcome), count);
    }
  }
}

void ClassSummary::print_left_out() const {
  const auto doubtful = std::count_if(doubtful_.begin(), doubtful_.end(), may_count);
  if (doubtful > 0) {
    print_line(fmt::format("{} handed in a file that was left out: see above.",
                           number_of(static_cast<std::size_t>(doubtful), "student has", "students have")));
  }
  if (!nobodys_.empty()) {
    print_line(
        fmt::format("{} of the folder nobody's: see above.", number_of(nobodys_.size(), "entry is", "entries are")));
  }
}

void ClassSummary::print_not_judged(const Gradebook& book) const {
  for (const Row& row : book.rows) {
    for (const Mark& mark : row.marks) {
      if (mark.outcome != Outcome::not_judged) continue;
      print_line(fmt::format("not judged: {} {}: {}", row.student, mark.puzzle, mark.reason));
    }
  }
}

void ClassSummary::print_changes(const Gradebook& book) const {
  if (!book.changes) return;
  print_line(number_of(book.changes->size(), "mark has changed", "marks have changed"));
  for (const submissions::Change& one : *book.changes) {
    print_line(fmt::format("  {} {}: {} -> {} ({})", one.student, one.puzzle,
                           one.before.empty() ? "nothing" : one.before, one.now.empty() ? "nothing" : one.now,
                           one.why));
  }
}

void ClassSummary::print(const Gradebook& book, const std::string& pace, const std::string& out) const {
  print_counts(book);
  print_left_out();
  print_not_judged(book);
  for (const submissions::Alike& one : alike_in(book)) {
    print_line(fmt::format("the same file, byte for byte: {} of {}", one.puzzle, fmt::join(one.students, ", ")));
  }
  print_changes(book);
  if (!pace.empty()) context_.out << pace << '\n';
  context_.out << fmt::format("{0}/results.csv, {0}/results.json, {0}/class.html\n", system::shown_path(out));
}

void ClassSummary::print_part(const Gradebook& book, const std::string& pace, const submissions::Part& part) const {
  context_.out << fmt::format("part {} of {}: ", part.number, part.count);
  print_counts(book);
  print_not_judged(book);
  if (!pace.empty()) context_.out << pace << '\n';
  print_line("When all parts have ended, the same command without --part makes the table.");
}

}  // namespace shardlings::cli::verbs
