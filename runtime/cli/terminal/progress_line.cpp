#include "cli/terminal/progress_line.h"

#include <ostream>
#include <system_error>

#include <fmt/format.h>

#include "base/terminal_text.h"
#include "report/harmless.h"

namespace shardlings::cli::terminal {
namespace {

using std::chrono::seconds;

constexpr seconds kTick{1};
constexpr seconds kLogged{10};
constexpr const char* kErase = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine(const Context& context) : ProgressLine(context, [] { return Clock::now(); }) {
  try {
    ticker_ = std::jthread([this](const std::stop_token& stop) {
      const MutexLock lock(mutex_);
      while (!stopping_.wait_for(mutex_, stop, kTick, [&] { return stop.stop_requested(); })) draw();
    });
  } catch (const std::system_error&) {
    return;  // without a thread, the time in the line stands still
  }
}

ProgressLine::ProgressLine(const Context& context, Now now)
    : context_(context), now_(std::move(now)), begin_(now_()), last_logged_(begin_) {}

ProgressLine::~ProgressLine() {
  if (ticker_.joinable()) {
    ticker_.request_stop();
    ticker_.join();
  }
  end();
}

void ProgressLine::show(const std::string& text) {
  const MutexLock lock(mutex_);
  text_ = text;
  draw();
}

void ProgressLine::tick() {
  const MutexLock lock(mutex_);
  draw();
}

void ProgressLine::end() {
  const MutexLock lock(mutex_);
  text_.clear();
  draw();
}

void ProgressLine::draw() {
  const auto now = now_();
  const auto passed = std::chrono::duration_cast<seconds>(now - begin_);
  if (context_.rewrites_errors) {
    if (text_.empty() && !drawn_) return;
    const std::string time = passed >= kTick ? fmt::format(" ({} s)", passed.count()) : "";
    const int room = std::max(context_.width - 1 - columns_of(time), 1);
    const std::string line = report::harmless_line(text_, context_.charset);
    context_.err << kErase;
    if (!text_.empty()) context_.err << first_columns(line, room) << time;
    context_.err << std::flush;
    drawn_ = !text_.empty();
  } else if (!text_.empty() && now - last_logged_ >= kLogged) {
    last_logged_ = now;
    context_.err << report::harmless_line(text_, context_.charset) << fmt::format(" ({} s)", passed.count())
                 << std::endl;
  }
}

}  // namespace shardlings::cli::terminal
