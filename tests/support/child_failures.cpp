#include "support/child_failures.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace shardlings::support {
namespace {

/// Writes each failure into a file: its place and its message, each with a zero at its end.
class Leaver final : public testing::EmptyTestEventListener {
 public:
  explicit Leaver(int file) : file_(file) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::string text = result.file_name() == nullptr ? "" : result.file_name();
    text += '\0' + std::to_string(result.line_number()) + '\0' + result.message() + '\0';
    // In one call: other processes write to the same file. Who cannot leave a failure behind fails by its end.
    if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
  }

  int file_;
};

}  // namespace

ChildFailures::ChildFailures() : file_(memfd_create("failures", MFD_CLOEXEC)) {
  if (file_.get() < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
}

void ChildFailures::leave_here() const {
  static Leaver* before = nullptr;  // of the parent, if it is a forked process itself: it repeats what is found here
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  if (before != nullptr) delete listeners.Release(before);
  before = new Leaver(file_.get());
  listeners.Append(before);  // which owns it now
}

std::vector<ChildFailure> ChildFailures::all() const {
  std::string text(static_cast<std::size_t>(lseek(file_.get(), 0, SEEK_END)), '\0');
  if (pread(file_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw std::system_error(errno, std::generic_category(), "pread");
  }
  std::vector<ChildFailure> failures;
  std::size_t at = 0;
  const auto next = [&] {
    const std::size_t begin = at, end = text.find('\0', begin);
    at = end + 1;
    return text.substr(begin, end - begin);
  };
  while (at < text.size()) {
    ChildFailure& failure = failures.emplace_back();
    failure.file = next();
    failure.line = std::stoi(next());
    failure.message = next();
  }
  return failures;
}

void ChildFailures::repeat() const {
  for (const ChildFailure& failure : all()) {
    ADD_FAILURE_AT(failure.file.c_str(), failure.line) << "in a process of its own: " << failure.message;
  }
}

std::vector<ChildFailure> failures_in_child(const std::function<void()>& body) {
  const ChildFailures failures;
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    failures.leave_here();
    body();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return failures.all();
}

}  // namespace shardlings::support
