#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/error.h"
#include "cli/learner/dialog.h"
#include "cli/learner/prediction.h"
#include "cli/learner/progress.h"
#include "cli/quiz/chapter.h"
#include "cli/quiz/post.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

using nlohmann::json;
using report::Role;

namespace {

struct QuizOptions {
  std::string chapter;
  std::vector<std::string> answers;  ///< "sent=12KB"; of the post: numbers of claims
  std::uint64_t seed = 1;
  bool json = false;
};

constexpr const char* kPost = "post";

/// A folder that cannot be written costs the note, and not the answer.
void note_in_quiz(const Context& context, const std::string& quiz, int asked, const std::string& id, bool right) {
  try {
    learner::update_progress(context.project.state(), [&](learner::Progress& progress) {
      progress.quizzes[quiz].asked = asked;
      progress.quizzes[quiz].note(id, right);
    });
  } catch (const std::runtime_error& error) {
    context.err << "Your answer could not be noted: " << error.what() << '\n';
  }
}

learner::PastAnswers past_of(const Context& context, const std::string& quiz) {
  const learner::Progress progress = learner::load_progress(context.project.state());
  const auto found = progress.quizzes.find(quiz);
  return found == progress.quizzes.end() ? learner::PastAnswers() : found->second;
}

learner::Questionnaire questionnaire_of(const Context& context, const QuizOptions& options,
                                        const quiz::Chapter& chapter) {
  learner::Questionnaire asked;
  asked.name = "The quiz of chapter " + options.chapter;
  asked.command = fmt::format("./shardlings quiz {} --seed {}", options.chapter, options.seed);
  asked.done = "answered";
  asked.rule = std::string(learner::kRuleOfAnswers) + " It shows the answer, too.";
  asked.questions = chapter.questions;
  const int count = static_cast<int>(chapter.questions.size());
  asked.print_heading = [&context, &options, &chapter] {
    const std::string text = fmt::format("Quiz of chapter {}: {}", options.chapter, chapter.title);
    context.out << context.paint(Role::strong, text) << '\n';
  };
  asked.note = [&context, &options, count](const learner::Answer& answer) {
    note_in_quiz(context, options.chapter, count, answer.question->id, answer.right);
  };
  // Other numbers make it another question: each seed asks them all.
  asked.was_right = [](const auto&) { return false; };
  asked.explanation = [&chapter](const auto& question) {
    return chapter.explanations.at(question.id) + " The answer is " + learner::number_of(question) + ".";
  };
  asked.print_count = [&context, &options, count] {
    context.out << '\n'
                << context.wrapped(fmt::format(
                       "Answered so far: {} of {}. Other numbers: ./shardlings quiz {} --seed {}",
                       past_of(context, options.chapter).right(), count, options.chapter, options.seed + 1));
  };
  return asked;
}

int quiz_of_chapter(const Context& context, const QuizOptions& options) {
  const quiz::Chapter chapter = quiz::load_chapter(context.project.quizzes(), options.chapter, options.seed);
  const learner::Questionnaire asked = questionnaire_of(context, options, chapter);
  if (!options.json) return learner::hold_dialog(context, asked, options.answers);
  return learner::print_answered(context, asked, options.answers, [&] {
    return json{{"chapter", options.chapter}, {"title", chapter.title}, {"seed", options.seed}};
  });
}

/// The claim that an answer names; nullptr if there is none.
const quiz::Claim* claim_of(const quiz::Post& post, const std::string& answer) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(answer.data(), answer.data() + answer.size(), number);
  const bool is_one = error == std::errc() && end == answer.data() + answer.size();
  return is_one && number >= 1 && number <= post.claims.size() ? &post.claims[number - 1] : nullptr;
}

void print_claims(const Context& context, const quiz::Post& post) {
  context.out << context.paint(Role::strong, post.title) << "\n\n";
  int number = 0;
  for (const quiz::Claim& claim : post.claims) {
    std::string lead = fmt::format("{:>3} ", ++number);
    for (const std::string& line : fill_lines(claim.text, context.width - 4)) {
      context.out << lead << line << '\n';
      lead = "    ";
    }
  }
}

/// Notes and judges one claim. False for what is no number of a claim.
bool judge_claim(const Context& context, const quiz::Post& post, const std::string& answer) {
  const quiz::Claim* claim = claim_of(post, answer);
  if (claim == nullptr) return false;
  const bool is_found = !claim->why.empty();
  note_in_quiz(context, kPost, post.wrong(), answer, is_found);
  std::string lead = (is_found ? context.tick() : context.cross()) + " ";
  const std::string said = answer + ": " + (is_found ? claim->why : "this claim is right.");
  for (const std::string& line : fill_lines(said, context.width - 2)) {
    context.out << lead << context.wrapped(line);
    lead = "  ";
  }
  return true;
}

void ask_for_claims(const Context& context, const quiz::Post& post) {
  std::set<std::string> found;
  while (std::ssize(found) < post.wrong()) {
    context.out << context.paint(Role::strong, fmt::format("wrong claim ({} of {} found):", found.size(), post.wrong()))
                << ' ' << std::flush;
    std::string line;
    if (!std::getline(std::cin, line) || trimmed(line).empty()) return;
    line = trimmed(line);
    if (!judge_claim(context, post, line)) context.out << "  That is no number of a claim.\n";
    const quiz::Claim* claim = claim_of(post, line);
    if (claim != nullptr && !claim->why.empty()) found.insert(line);
  }
}

int post_as_json(const Context& context, const quiz::Post& post, const std::vector<std::string>& answers) {
  json claims = json::array();
  for (std::size_t i = 0; i < post.claims.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    json entry = {{"number", i + 1}, {"text", post.claims[i].text}};
    if (std::find(answers.begin(), answers.end(), number) != answers.end()) {
      entry["right"] = !post.claims[i].why.empty();
      entry["why"] = post.claims[i].why;
      note_in_quiz(context, kPost, post.wrong(), number, !post.claims[i].why.empty());
    }
    claims.push_back(entry);
  }
  context.out << json{{"title", post.title}, {"wrong", post.wrong()}, {"claims", claims}}.dump(2) << '\n';
  return kPassed;
}

int quiz_of_post(const Context& context, const QuizOptions& options) {
  const quiz::Post post = quiz::load_post(context.project.quizzes());
  for (const std::string& answer : options.answers) {
    if (claim_of(post, answer) == nullptr) {
      throw UsageError(fmt::format("\"{}\" is no claim: they have the numbers 1 to {}.", answer, post.claims.size()));
    }
  }
  if (options.json) return post_as_json(context, post, options.answers);
  if (!options.answers.empty()) {
    bool all_found = true;
    for (const std::string& answer : options.answers) {
      judge_claim(context, post, answer);
      all_found = all_found && !claim_of(post, answer)->why.empty();
    }
    return all_found ? kPassed : kFailed;
  }
  print_claims(context, post);
  context.out << '\n' << context.wrapped(fmt::format("{} of these claims are wrong. Which?", post.wrong()));
  if (isatty(STDIN_FILENO) == 1) {
    ask_for_claims(context, post);
  } else {
    context.out << "Answer with ./shardlings quiz post NUMBER...\n";
  }
  return kPassed;
}

}  // namespace

/// `quiz`: questions on a chapter, with numbers that are drawn, or the errors in a post.
static int take_quiz(const Context& context, const QuizOptions& options) {
  return options.chapter == kPost ? quiz_of_post(context, options) : quiz_of_chapter(context, options);
}

void add_quiz(CommandLine& line) {
  auto [options, verb] = line.verb<QuizOptions>("quiz", "questions on a chapter, without points", take_quiz);
  verb.required("CHAPTER", options.chapter, "its number; or post: a text with wrong claims to find");
  verb.positional("ANSWER", options.answers, "sent=12KB, or the number of a claim; without one, asks");
  verb.number("--seed", options.seed, "draws the numbers of the questions");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs
