/// \file
/// The verbs of the command. Each is one file of this folder: its options, how they are read, and what it does. A verb
/// returns the exit status (error.h), prints to the context's streams, and throws UsageError where it was asked for
/// something that there is not.
#pragma once

#include "cli/command_line.h"
#include "cli/context.h"

namespace shardlings::cli::verbs {

/// `./shardlings`: where the learner is and what comes next.
int overview(const Context& context);

void add_list(CommandLine& line);
void add_run(CommandLine& line);
void add_watch(CommandLine& line);
void add_debug(CommandLine& line);
void add_trace(CommandLine& line);
void add_hint(CommandLine& line);
void add_explain(CommandLine& line);
void add_predict(CommandLine& line);
void add_quiz(CommandLine& line);
void add_explain_back(CommandLine& line);
void add_reset(CommandLine& line);
void add_solution(CommandLine& line);
void add_view(CommandLine& line);
void add_simulate(CommandLine& line);
void add_sweep(CommandLine& line);
void add_memory(CommandLine& line);
void add_train(CommandLine& line);
void add_verify(CommandLine& line);
void add_new_puzzle(CommandLine& line);
void add_doctor(CommandLine& line);
void add_test(CommandLine& line);
void add_check(CommandLine& line);
void add_completion(CommandLine& line);
void add_man(CommandLine& line);
void add_grade(CommandLine& line);
void add_handout(CommandLine& line);
void add_autograder(CommandLine& line);
void add_gradescope(CommandLine& line);
void add_records(CommandLine& line);

/// What a learner types all day. No other verb is part of the program that answers each save.
inline void add_everyday(CommandLine& line) {
  add_list(line);
  add_run(line);
  add_watch(line);
  add_hint(line);
  add_explain(line);
  add_predict(line);
  add_reset(line);
  add_view(line);
}

/// All of them, in the order in which the help shows them.
inline void add_all(CommandLine& line) {
  add_list(line);
  add_run(line);
  add_watch(line);
  add_debug(line);
  add_trace(line);
  add_hint(line);
  add_explain(line);
  add_predict(line);
  add_quiz(line);
  add_explain_back(line);
  add_reset(line);
  add_solution(line);
  add_records(line);
  add_view(line);
  add_simulate(line);
  add_sweep(line);
  add_memory(line);
  add_train(line);
  add_grade(line);
  add_handout(line);
  add_autograder(line);
  add_gradescope(line);
  add_verify(line);
  add_new_puzzle(line);
  add_doctor(line);
  add_test(line);
  add_check(line);
  add_completion(line);
  add_man(line);
}

}  // namespace shardlings::cli::verbs
