/// \file
/// What `grade FOLDER` says in the terminal: who was left out, and what came of all.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/submissions/gradebook.h"
#include "cli/submissions/part.h"
#include "cli/submissions/students.h"

namespace shardlings::cli::verbs {

class ClassSummary {
 public:
  /// `submissions` as they were read.
  ClassSummary(const Context& context, const submissions::Submissions& submissions);

  /// On the error stream, before anything is graded: nobody is to lose points by a name that was not understood.
  void tell_of_left_out() const;
  void tell_of_strangers(const std::vector<std::string>& students, const std::string& roster) const;

  /// `pace`: how long a larger class would take; empty: not known. `out`: the folder of results.
  void print(const submissions::Gradebook& book, const std::string& pace, const std::string& out) const;
  void print_part(const submissions::Gradebook& book, const std::string& pace, const submissions::Part& part) const;

 private:
  void tell(const std::string& text) const;
  void print_line(const std::string& text) const;
  void print_counts(const submissions::Gradebook& book) const;
  void print_left_out() const;
  void print_not_judged(const submissions::Gradebook& book) const;
  void print_changes(const submissions::Gradebook& book) const;

  const Context& context_;
  std::vector<submissions::LeftOut> nobodys_;
  std::vector<submissions::Student> doubtful_;  ///< who have something left out
};

}  // namespace shardlings::cli::verbs
