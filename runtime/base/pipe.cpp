#include "base/pipe.h"

#include <signal.h>
#include <time.h>

#include <cerrno>

#include "base/descriptor.h"

namespace shardlings {
namespace {

/// Holds SIGPIPE back from this thread, to which alone write() sends it, and takes away the one that has come.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;  // somebody else's
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~WithoutPipeSignal() {
    constexpr timespec kNow{};
    while (!was_pending_ && sigtimedwait(&signal_, nullptr, &kNow) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_;
};

}  // namespace

void write_to_pipe(int descriptor, std::string_view text) {
  const WithoutPipeSignal guard;
  write_all(descriptor, text);
}

}  // namespace shardlings
