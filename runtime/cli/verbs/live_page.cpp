#include "cli/verbs/live_page.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/last_run.h"
#include "cli/live/template.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/predict.h"
#include "cli/verbs/view.h"
#include "report/view/assets.h"

namespace shardlings::cli::verbs {

namespace {

using LiveJson = nlohmann::json;

std::string text_of(const LiveJson& value) {
  return value.dump(-1, ' ', false, LiveJson::error_handler_t::replace);
}

/// What a verb prints, without colours and for a column of the page; what it complains about in place of it.
std::string printed_by(const Context& context, const std::function<int(const Context&)>& verb) {
  constexpr int kColumns = 74;
  std::ostringstream out;
  Context page{context.project, out, out};
  page.width = kColumns;
  try {
    verb(page);
  } catch (const std::exception& error) {
    return error.what();
  }
  return out.str();
}

/// The questions of a puzzle as `predict --json` has them, or `predict --after --json`, with the answers judged. Throws
/// where it asks none, or not yet.
LiveJson questions_of(const Context& context, const std::string& puzzle, const std::vector<std::string>& answers,
                      bool after) {
  std::ostringstream out, complaints;
  predict(Context{context.project, out, complaints}, {puzzle, answers, false, true, after});
  if (out.str().empty()) throw std::runtime_error(complaints.str());
  return LiveJson::parse(out.str()).at("questions");
}

/// The same without answers; none where none are asked.
std::string questions_text(const Context& context, const std::string& puzzle, bool after) {
  try {
    return text_of(questions_of(context, puzzle, {}, after));
  } catch (const std::exception&) {
    return "[]";
  }
}

/// The page before anything is known, in the colours of all other pages.
std::string page_before_all() {
  const std::string place = "/* colours.css */";
  std::string page(live::live_template());
  for (const report::ViewAsset& asset : report::view_assets()) {
    if (asset.name == "colours.css") page.replace(page.find(place), place.size(), asset.text);
  }
  return page;
}

}  // namespace

LivePage::LivePage(const Context& context, int port) : context_(context), server_(port) {
  server_.publish("", page_before_all());
}

void LivePage::open(const cases::Manifest& puzzle) {
  puzzle_ = puzzle;
  report_.clear();
  has_run_ = false;
  read_texts();
}

void LivePage::say(const std::string& status) {
  status_ = status;
  announce();
}

void LivePage::show_run(const std::string& status, const std::string& report, bool is_judged) {
  status_ = status;
  report_ = report;
  has_run_ = false;  // where nothing was judged or kept, the report says why
  try {
    // Of a hole that nobody has filled a run shows nothing but the goal beside it, and that answers what is asked. Of a
    // question the report is all there is.
    if (is_judged && !puzzle_.question &&
        learner::last_run(context_, puzzle_).status != grading::verdict::Status::not_implemented) {
      server_.publish("run", page_of_last_run(context_, puzzle_));
      has_run_ = true;
      ++runs_;
    }
  } catch (const std::exception& error) {
    report_ += std::string("\n") + error.what() + "\n";
  }
  read_texts();
  announce();
}

void LivePage::answer() {
  server_.answer([this](const std::string& sent) {
    try {
      const LiveJson letter = LiveJson::parse(sent);
      const std::string id = letter.at("id"), given = letter.at("answer");
      if (letter.at("puzzle") != puzzle_.id) throw std::runtime_error("watch has gone on to another puzzle.");
      const bool is_after = letter.value("after", false);
      LiveJson questions = questions_of(context_, puzzle_.id, {id + "=" + given}, is_after);
      const std::string reply = text_of({{"questions", questions}});
      for (LiveJson& question : questions) question.erase("answer");  // what was typed is this browser's alone
      (is_after ? questions_after_ : questions_) = text_of(questions);
      return reply;
    } catch (const std::exception& error) {  // of what was sent, or of the answer: for the one who has sent it
      return text_of({{"error", error.what()}});
    }
  });
}

void LivePage::read_texts() {
  lesson_ = printed_by(context_, [this](const Context& context) { return explain(context, {puzzle_.id}); });
  questions_ = questions_text(context_, puzzle_.id, false);
  questions_after_ = questions_text(context_, puzzle_.id, true);
}

void LivePage::announce() {
  server_.announce(text_of({{"puzzle", puzzle_.id},
                            {"title", learner::short_name(puzzle_) + " " + puzzle_.title},
                            {"file", system::shown_path(context_.project.puzzle_file(puzzle_.id))},
                            {"status", status_},
                            {"lesson", lesson_},
                            {"questions", LiveJson::parse(questions_)},
                            {"after", LiveJson::parse(questions_after_)},
                            {"report", report_},
                            {"run", has_run_ ? runs_ : 0}}));
}

}  // namespace shardlings::cli::verbs
