#include "cli/terminal/terminal_mode.h"

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace shardlings::cli::terminal {

KeyMode::KeyMode() {
  if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
  active_ = true;
  apply();
}

KeyMode::~KeyMode() {
  if (active_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void KeyMode::apply() {
  if (!active_) return;
  termios keys = before_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
}

SignalEvents::SignalEvents() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT}) sigaddset(&wanted, number);
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  descriptor_ = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
}

SignalEvents::~SignalEvents() {
  if (descriptor_ >= 0) close(descriptor_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int SignalEvents::next() {
  signalfd_siginfo info{};
  return read(descriptor_, &info, sizeof info) == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo)
                                                                                    : 0;
}

ScreenSize screen_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

}  // namespace shardlings::cli::terminal
