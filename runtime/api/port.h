/// \file
/// The cut between a rank's code and the runtime: every public operation is one Call through one Port.
///
/// A Port has two sides. The caller's side is here and in port.cpp: it names texts by numbers and raises errors as
/// exceptions. The other side, which answers, may be in the same process (front/doors.h) or not; what passes between
/// the two are Calls, Replies and texts.
#pragma once

#include <array>
#include <cstring>
#include <forward_list>
#include <string>
#include <string_view>

#include "api/call.h"

namespace shardlings::detail {

class HarnessPort;

/// Where calls go. One per rank, used by that rank's thread only.
class Port {
 public:
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// Throws the error of the reply, if it has one.
  Reply call(const Call& call) {
    const Reply reply = answer(call);
    if (reply.error != ErrorKind::none) [[unlikely]]
      raise(reply);
    return reply;
  }
  /// For destructors, whose verbs are marked as `released`: what is wrong about them is raised by the next call().
  void release(const Call& call) noexcept { answer(call); }

  PackedLocation packed(Location at) { return {at.file[0] == '\0' ? 0 : file(at.file), at.line}; }
  /// Tells the other side of a wrong call that has become no Call. Throws what it answers: the error of the first one.
  void refuse(const std::string& sentence, Location at);
  /// Throws InvalidArgument if the other side takes no more texts.
  TextId text(std::string_view text, Location at);

  /// What a harness may ask for beside; nullptr where the one who holds this Port is no harness and cannot become one.
  virtual HarnessPort* harness() { return nullptr; }

 protected:
  ~Port() = default;
  friend struct PortServer;

  /// Throws nothing but what is the caller's own affair: errors are part of the reply.
  virtual Reply answer(const Call& call) = 0;
  /// The number of a text, the same for equal ones; 0 also if there is no room for it.
  virtual TextId define(std::string_view text) = 0;
  virtual std::string text_of(TextId id) = 0;
  /// What the error of the last reply says.
  virtual std::string error_text() = 0;

 private:
  /// Nearly all calls of a program come from one file, whose name is the same literal.
  struct KnownFile {
    const char* pointer = nullptr;
    std::string text;  ///< the pointer alone proves nothing: it may be no literal
    TextId id = 0;
  };

  TextId file(const char* name) {
    const KnownFile& known = known_[reinterpret_cast<std::uintptr_t>(name) / 16 % known_.size()];
    return known.pointer == name && std::strcmp(known.text.c_str(), name) == 0 ? known.id : add_file(name);
  }
  TextId add_file(const char* name);
  [[noreturn]] void raise(const Reply& reply);
  Location location(PackedLocation at);

  std::array<KnownFile, 8> known_;
  std::forward_list<std::string> files_;  ///< of errors: a Location points at its file's name
};

/// While it lives, this thread, or this fiber of it, runs the code of the rank whose port this is. For what names no
/// tensor and no rank: show() of an empty tensor, and calls that are wrong before they become a Call.
class PortOfThisThread {
 public:
  /// nullptr on a thread that runs no rank's code.
  static Port* get();
  explicit PortOfThisThread(Port& port);
  ~PortOfThisThread();
  PortOfThisThread(const PortOfThisThread&) = delete;
  PortOfThisThread& operator=(const PortOfThisThread&) = delete;
};

}  // namespace shardlings::detail
