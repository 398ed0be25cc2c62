#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/system/backend_option.h"
#include "cli/system/file_watcher.h"
#include "cli/system/job.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/terminal_mode.h"
#include "cli/verbs/hint.h"
#include "cli/verbs/list.h"
#include "cli/verbs/run.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

using cases::Manifest;

namespace {

struct WatchOptions {
  std::string puzzle;
  std::string backend;  ///< as for run
};

// Editors save in several steps; only when nothing has happened for so long is the file taken as complete.
constexpr int kSettleMilliseconds = 30;

class Watch {
 public:
  Watch(const Context& context, const Manifest& puzzle, std::string backend)
      : context_(context), backend_(std::move(backend)) {
    full_screen_ = isatty(STDIN_FILENO) == 1 && context.interactive;
    if (full_screen_) {
      keys_.emplace();
      context_.out << "\x1b[2J";
    }
    open(puzzle);
  }

  int loop() {
    while (!done_) {
      std::vector<pollfd> wanted = {{signals_.descriptor(), POLLIN, 0}};
      if (full_screen_) wanted.push_back({STDIN_FILENO, POLLIN, 0});
      if (watcher_->descriptor() >= 0) wanted.push_back({watcher_->descriptor(), POLLIN, 0});
      if (job_.running()) wanted.push_back({job_.descriptor(), POLLIN, 0});
      poll(wanted.data(), wanted.size(), watcher_->interval_ms());
      for (int signal = signals_.next(); signal != 0; signal = signals_.next()) on_signal(signal);
      if (full_screen_ && (wanted[1].revents & (POLLIN | POLLHUP)) != 0) on_key();
      if (watcher_->changed()) on_save();
      if (job_.running()) on_news();
    }
    job_.drop();
    if (full_screen_) context_.out << std::endl;
    return kPassed;
  }

 private:
  static std::string status_text(int status) {
    if (status == kPassed) return "passed";
    if (status == kFailed) return "not yet";
    return status == kNotJudged ? "not judged" : "";
  }

  void open(const Manifest& puzzle) {
    id_ = puzzle.id;
    name_ = learner::short_name(puzzle);
    const std::string file = context_.project.puzzle_file(id_);
    screen_.title = fmt::format("{} {}  {}", name_, puzzle.title, system::shown_path(file));
    watcher_ = std::make_unique<system::FileWatcher>(file);
    grade();
  }

  void grade() {
    screen_.status = "building";
    screen_.can_go_on = false;
    if (full_screen_) {
      show();
    } else {
      context_.out << screen_.title << ": building" << std::endl;
    }
    const terminal::ScreenSize size = terminal::screen_size();
    job_.start([this, size](const system::Job::Say& say, std::string& text) {
      std::ostringstream out;
      Context context{context_.project, out, out, context_.colour, context_.charset, context_.width};
      if (full_screen_) context.width = size.columns;
      RunOptions options;
      options.puzzle = id_;
      options.backend = backend_;
      if (full_screen_) options.max_lines = terminal::body_rows(size);
      options.progress = [&say](const std::string& what) { say(what); };
      const int status = run(context, options);
      text = out.str();
      return status;
    });
  }

  void on_save() {
    job_.drop();
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
      screen_.body = job_.text();
      screen_.more = "./shardlings run " + name_;
      screen_.status = status_text(job_.status());
      screen_.can_go_on = job_.status() == kPassed;
      if (!full_screen_) context_.out << screen_.body << std::endl;
    } else if (job_.stage() != before && !job_.stage().empty()) {
      screen_.status = job_.stage();
    }
    if (full_screen_ && (ended || job_.stage() != before)) show();
  }

  void on_signal(int signal) {
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) done_ = true;
    if (signal == SIGCONT && keys_) keys_->apply();
    if (full_screen_ && (signal == SIGWINCH || signal == SIGCONT)) {
      context_.out << "\x1b[2J";
      show();
    }
  }

  void on_key() {
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) != 1) {
      done_ = true;  // the terminal is gone
      return;
    }
    switch (std::tolower(static_cast<unsigned char>(key))) {
      case 'q': done_ = true; break;
      case 'r':
      case '\n':
      case '\r': grade(); break;
      // Asking for the same hint again would give the next one: only a larger window shows the rest.
      case 'h': borrow("a larger window", [this](const Context& context) { hint(context, {.puzzle = id_}); }); break;
      case 'l': borrow("./shardlings list", [](const Context& context) { list(context, {}); }); break;
      case 'n': next(); break;
      default: break;
    }
  }

  /// Shows what another verb prints; `more` shows what the screen has no room for.
  template <typename Verb>
  void borrow(const char* more, const Verb& verb) {
    std::ostringstream out;
    verb(Context{context_.project, out, out, context_.colour, context_.charset, terminal::screen_size().columns});
    screen_.body = out.str();
    screen_.more = more;
    show();
  }

  void next() {
    if (!screen_.can_go_on) return;
    const learner::Course course = learner::load_course(context_.project);
    const Manifest* next = course.next_after(id_, learner::load_progress(context_.project.state()));
    if (!next) return;
    screen_.body.clear();
    open(*next);
  }

  void show() { context_.out << terminal::compose(screen_, terminal::screen_size(), context_) << std::flush; }

  const Context& context_;
  const std::string backend_;
  terminal::SignalEvents signals_;
  std::optional<terminal::KeyMode> keys_;
  std::string id_, name_;
  std::unique_ptr<system::FileWatcher> watcher_;
  system::Job job_;
  terminal::Screen screen_;
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
  system::chosen_backend(context, options.backend,
                         puzzle.cases);  // what cannot be had is said before anything is drawn
  return Watch(context, puzzle, options.backend).loop();
}

void add_watch(CommandLine& line) {
  auto [options, verb] = line.verb<WatchOptions>("watch", "grade on every save", watch);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  verb.text("--backend", options.backend, kBackendMeaning);
}

}  // namespace shardlings::cli::verbs
