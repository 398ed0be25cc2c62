#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/system/file_watcher.h"
#include "cli/system/job.h"
#include "cli/terminal/keys.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/terminal_mode.h"
#include "cli/verbs/backend_option.h"
#include "cli/verbs/explain.h"
#include "cli/verbs/hint.h"
#include "cli/verbs/list.h"
#include "cli/verbs/live_page.h"
#include "cli/verbs/run.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/view.h"

namespace shardlings::cli::verbs {

using cases::Manifest;

namespace {

struct WatchOptions {
  std::string puzzle;
  BackendOptions backend;
  bool page = false;  ///< serve one from the beginning
  int port = 0;       ///< of the page; 0: one that the system chooses
};

// Editors save in several steps; only when nothing has happened for so long is the file taken as complete.
constexpr int kSettleMilliseconds = 30;
constexpr const char* kClear = "\x1b[2J";
constexpr int kAllLines = 1'000'000;
// Between the two reports of a job; report/harmless lets no form feed of a program through.
constexpr char kWholeReport = '\f';

class Watch {
 public:
  Watch(const Context& context, const Manifest& puzzle, const WatchOptions& options)
      : context_(context), backend_(options.backend), port_(options.port) {
    full_screen_ = isatty(STDIN_FILENO) == 1 && context.interactive;
    if (options.page) {
      page_.emplace(context_, port_);
      screen_.note = "Page: " + page_->url();
      if (!full_screen_) context_.out << screen_.note << std::endl;
    }
    if (full_screen_) {
      keys_.emplace();
      context_.out << kClear;
    }
    const cases::Milestone* milestone = learner::milestone_named(puzzle, options.puzzle);
    open(puzzle, milestone ? milestone->letter : "");
  }

  int loop() {
    while (!done_) {
      std::vector<pollfd> wanted = {{signals_.descriptor(), POLLIN, 0}};
      if (full_screen_) wanted.push_back({STDIN_FILENO, POLLIN, 0});
      if (watcher_->descriptor() >= 0) wanted.push_back({watcher_->descriptor(), POLLIN, 0});
      if (job_.running()) wanted.push_back({job_.descriptor(), POLLIN, 0});
      if (page_) wanted.push_back({page_->descriptor(), POLLIN, 0});
      poll(wanted.data(), wanted.size(), watcher_->interval_ms());
      for (int signal = signals_.next(); signal != 0; signal = signals_.next()) on_signal(signal);
      if (full_screen_ && (wanted[1].revents & (POLLIN | POLLHUP)) != 0) on_keys();
      if (watcher_->changed()) on_save();
      if (job_.running()) on_news();
      if (page_) page_->answer();
    }
    page_.reset();
    job_.drop();
    if (full_screen_) context_.out << std::endl;
    return kPassed;
  }

 private:
  /// What a key does. bindings() is the table of all of them, which ? shows.
  struct KeyBinding {
    std::vector<int> keys;
    const char* name;   ///< as it is printed on the key
    const char* brief;  ///< in the last row; empty: not there
    const char* meaning;
    std::function<void()> action;
  };

  static std::string status_text(int status) {
    if (status == kPassed) return "passed";
    if (status == kFailed) return "not yet";
    return status == kNotJudged ? "not judged" : "";
  }

  bool is_judged() const { return job_.status() == kPassed || job_.status() == kFailed; }

  std::vector<KeyBinding> bindings() {
    using namespace terminal;
    const int page = body_rows(screen_, screen_size()) - 1;
    const auto scroll = [this](int lines) { return [this, lines] { scroll_by(lines); }; };
    return {
        {{'n'}, "n", can_go_on_ ? "next puzzle" : "", "the next puzzle, once this one is solved", [this] { next(); }},
        {{'h'}, "h", "hint", "the next hint", [this] { borrow([this](const Context& c) { hint(c, {id_}); }); }},
        {{'e'}, "e", "lesson", "the lesson", [this] { borrow([this](const Context& c) { explain(c, {id_}); }); }},
        {{'v'}, "v", "run page", "the run as a page in the browser, as view --open", [this] { open_page(); }},
        {{'p'}, "p", "", "a live page, which follows every save; its address is shown", [this] { start_page(); }},
        {{'d'}, "d", "details", "the full report, and back", [this] { toggle_details(); }},
        {{'l'}, "l", "list", "all puzzles", [this] { borrow([](const Context& c) { list(c, {.all = true}); }); }},
        {{'r', '\n', '\r'}, "r", "", "grade again", [this] { grade(); }},
        {{kUp, 'k'}, "up, k", "", "one line up", scroll(-1)},
        {{kDown, 'j'}, "down, j", "", "one line down", scroll(1)},
        {{kPageDown, ' '}, "space", "", "one screen down; PageDown does the same", scroll(page)},
        {{kPageUp, 'b'}, "b", "", "one screen up; PageUp does the same", scroll(-page)},
        {{kHome, 'g'}, "Home, g", "", "to the first line", scroll(-kAllLines)},
        {{kEnd}, "End", "", "to the last line", scroll(kAllLines)},
        {{kEscape}, "Esc", "", "back to the report", [this] { show_report(); }},
        {{'?'}, "?", "all keys", "all keys", [this] { show_keys(); }},
        {{'q'}, "q", "quit", "the end", [this] { done_ = true; }},
    };
  }

  /// `milestone` is the letter of one, or empty: the whole puzzle.
  void open(const Manifest& puzzle, const std::string& milestone) {
    id_ = puzzle.id;
    name_ = learner::short_name(puzzle);
    milestone_ = milestone;
    const std::string file = context_.project.puzzle_file(id_);
    const std::string& title = milestone.empty() ? puzzle.title : puzzle.milestone(milestone)->title;
    screen_.title = fmt::format("{}{} {}  {}", name_, milestone_, title, system::shown_path(file));
    watcher_ = std::make_unique<system::FileWatcher>(file);
    puzzle_ = puzzle;
    if (page_) page_->open(puzzle);
    grade();
  }

  /// The status, on the screen and on the page.
  void set_status(const std::string& status) {
    screen_.status = status;
    if (page_) page_->say(status);
  }

  void grade() {
    set_status("building");
    screen_.stale = is_report_;
    can_go_on_ = false;
    if (full_screen_) {
      show();
    } else {
      context_.out << screen_.title << ": building" << std::endl;
    }
    const terminal::ScreenSize size = terminal::screen_size();
    job_.start([this, size, rows = terminal::body_rows(screen_, size)](const system::Job::Say& say, std::string& text) {
      std::ostringstream out, whole;
      Context context{context_.project, out, out, context_.colour, context_.charset, context_.width};
      if (full_screen_) context.width = size.columns;
      RunOptions options;
      options.puzzle = milestone_.empty() ? id_ : name_ + milestone_;
      options.backend = backend_;
      if (full_screen_) options.max_lines = rows;
      if (full_screen_) options.whole = &whole;
      options.progress = [&say](const std::string& what) { say(what); };
      const int status = run(context, options);
      text = out.str();
      if (full_screen_) text += kWholeReport + whole.str();
      return status;
    });
  }

  void on_save() {
    job_.drop();
    show_report();
    screen_.status = "saved";
    if (full_screen_) show();
    if (watcher_->descriptor() >= 0) {
      pollfd wanted{watcher_->descriptor(), POLLIN, 0};
      while (poll(&wanted, 1, kSettleMilliseconds) > 0) watcher_->changed();
    }
    grade();
  }

  void on_news() {
    const std::string before = job_.stage();
    const bool ended = job_.take();
    if (ended) {
      const auto end = std::min(job_.text().find(kWholeReport), job_.text().size());
      report_ = job_.text().substr(0, end);
      details_ = end == job_.text().size() ? report_ : job_.text().substr(end + 1);
      screen_.status = status_text(job_.status());
      can_go_on_ = job_.status() == kPassed;
      if (page_) page_->show_run(screen_.status, report_, is_judged());
      // Who reads something else meanwhile is not interrupted: the status says how it went, Esc shows why.
      if (is_report_) show_report();
      if (!full_screen_) context_.out << report_ << std::endl;
    } else if (job_.stage() != before && !job_.stage().empty()) {
      set_status(job_.stage());
    }
    if (full_screen_ && (ended || job_.stage() != before)) show();
  }

  void on_signal(int signal) {
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) done_ = true;
    if (signal == SIGCONT && keys_) keys_->apply();
    if (full_screen_ && (signal == SIGWINCH || signal == SIGCONT)) {
      context_.out << kClear;
      show();
    }
  }

  void on_keys() {
    std::array<char, 64> typed{};
    const ssize_t got = read(STDIN_FILENO, typed.data(), typed.size());
    if (got <= 0) {
      done_ = true;  // the terminal is gone
      return;
    }
    for (const int key : terminal::keys_in({typed.data(), static_cast<std::size_t>(got)})) {
      for (const KeyBinding& binding : bindings()) {
        if (std::count(binding.keys.begin(), binding.keys.end(), key) > 0) binding.action();
      }
    }
    if (!done_) show();
  }

  void put(const std::string& body, bool is_report) {
    screen_.body = body;
    screen_.first = 0;
    screen_.stale = false;
    is_report_ = is_report;
    shows_details_ = false;
  }

  void show_report() { put(report_, true); }

  void toggle_details() {
    const bool wanted = !shows_details_;
    put(wanted ? details_ : report_, true);
    shows_details_ = wanted;
  }

  void scroll_by(int lines) { screen_.first = terminal::scrolled(screen_, terminal::screen_size(), lines); }

  void show_keys() {
    std::string text;
    for (const KeyBinding& binding : bindings()) {
      text += context_.paint(report::Role::strong, padded(binding.name, 10)) + binding.meaning + "\n";
    }
    put(text, false);
  }

  /// Shows what another verb prints, or why it cannot.
  template <typename Verb>
  void borrow(const Verb& verb) {
    std::ostringstream out;
    const Context context{
        context_.project, out, out, context_.colour, context_.charset, terminal::screen_size().columns};
    try {
      verb(context);
    } catch (const std::exception& error) {
      out << error.what() << '\n';
    }
    std::string body;
    for (const std::string& line : wrap(out.str(), context.width)) body += line + "\n";
    put(body, false);
  }

  void open_page() {
    ViewOptions options;
    options.puzzle = id_;
    options.open = true;
    borrow([&options](const Context& context) { view(context, options); });
    context_.out << kClear;  // the browser may have written something
  }

  /// Starts the live page, if there is none; the screen says where it is.
  void start_page() {
    if (page_) return;
    try {
      page_.emplace(context_, port_);
    } catch (const std::runtime_error& error) {
      return put(error.what(), false);
    }
    screen_.note = "Page: " + page_->url();
    page_->open(puzzle_);
    if (job_.running()) {
      page_->say(screen_.status);
    } else {
      page_->show_run(screen_.status, report_, is_judged());
    }
  }

  void next() {
    if (!can_go_on_) {
      screen_.status = "not solved yet";
      return;
    }
    const learner::Course course = learner::load_course(context_.project);
    const bool on_the_way = !milestone_.empty() && milestone_ != puzzle_.milestones.back().letter;
    const Manifest* next =
        on_the_way ? &puzzle_ : course.next_after(id_, learner::load_progress(context_.project.state()));
    if (!next) return;
    const char letter = on_the_way ? static_cast<char>(milestone_.front() + 1) : '\0';
    report_.clear();
    details_.clear();
    show_report();
    open(Manifest(*next), on_the_way ? std::string(1, letter) : "");
  }

  void show() {
    screen_.keys.clear();
    for (const KeyBinding& binding : bindings()) {
      if (*binding.brief != '\0') screen_.keys.emplace_back(binding.name, binding.brief);
    }
    context_.out << terminal::compose(screen_, terminal::screen_size(), context_) << std::flush;
  }

  const Context& context_;
  const BackendOptions backend_;
  const int port_;
  Manifest puzzle_;
  terminal::SignalEvents signals_;
  std::optional<terminal::KeyMode> keys_;
  std::string id_, name_, milestone_;
  std::unique_ptr<system::FileWatcher> watcher_;
  system::Job job_;
  std::optional<LivePage> page_;
  terminal::Screen screen_;
  std::string report_, details_;  // of the last run: for the screen, and in full
  bool is_report_ = true;         // the body is one of the two
  bool shows_details_ = false;
  bool can_go_on_ = false;  // the puzzle is solved, or this milestone of it
  bool full_screen_ = false;
  bool done_ = false;
};

}  // namespace

/// `watch`: run on every save, with keys.
static int watch(const Context& context, const WatchOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  learner::tell_of_faulty(context, course);
  const Manifest& puzzle =
      learner::named_or_next(course, options.puzzle, learner::load_progress(context.project.state()));
  chosen_backend(context, options.backend,
                 puzzle.cases);  // what cannot be had is said before anything is drawn
  if (options.port != 0 && !options.page) throw UsageError("--port belongs to --page: write both.");
  return Watch(context, puzzle, options).loop();
}

void add_watch(CommandLine& line) {
  auto [options, verb] = line.verb<WatchOptions>("watch", "grade on every save", watch);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  add_backend_options(verb, options.backend);
  verb.flag("--page", options.page, "serve a page that follows: lesson, predictions, verdict and pictures");
  verb.number("--port", options.port, "of the page; without it the system chooses one", {1, 65535});
}

}  // namespace shardlings::cli::verbs
