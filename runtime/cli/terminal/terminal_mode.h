/// \file
/// The terminal while `watch` has it: keys without Enter, signals as events, everything restored at the end.
#pragma once

#include <signal.h>
#include <termios.h>

namespace shardlings::cli::terminal {

/// Keys come one by one and are not shown, as long as this lives.
class KeyMode {
 public:
  KeyMode();
  ~KeyMode();
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;
  /// Once more, after the program was stopped and continued.
  void apply();

 private:
  termios before_{};
  bool active_ = false;
};

/// Interrupts and changes of the window's size as something to read, as long as this lives.
class SignalEvents {
 public:
  SignalEvents();
  ~SignalEvents();
  SignalEvents(const SignalEvents&) = delete;
  SignalEvents& operator=(const SignalEvents&) = delete;
  /// Readable when a signal has come.
  int descriptor() const { return descriptor_; }
  /// The next signal; 0 if there is none.
  int next();

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

struct ScreenSize {
  int rows = 24;
  int columns = 80;
};
/// The terminal's size, or 24 rows of 80 columns where it has none.
ScreenSize screen_size();

}  // namespace shardlings::cli::terminal
