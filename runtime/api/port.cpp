#include "api/port.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "api/invalid.h"
#include "base/rank_local.h"
#include "base/text.h"

namespace shardlings::detail {

Port* PortOfThisThread::get() {
  return static_cast<Port*>(rank_local());
}

PortOfThisThread::PortOfThisThread(Port& port) {
  rank_local() = &port;
}

PortOfThisThread::~PortOfThisThread() {
  rank_local() = nullptr;
}

void throw_invalid(const std::string& sentence, Location at) {
  const std::string text = to_text(at) + ": " + sentence;
  if (Port* port = PortOfThisThread::get()) port->refuse(text, at);
  throw InvalidArgument(text.c_str(), at);
}

void Port::refuse(const std::string& sentence, Location at) {
  Call wrong;
  wrong.verb = Verb::refuse;
  wrong.at = packed(at);
  wrong.text = define(sentence);
  call(wrong);
}

TextId Port::text(std::string_view text, Location at) {
  if (text.empty()) return 0;
  const TextId id = define(text);
  if (id == 0) throw_invalid("this name is too long, or there are too many different ones", at);
  return id;
}

TextId Port::add_file(const char* name) {
  KnownFile& known = known_[reinterpret_cast<std::uintptr_t>(name) / 16 % known_.size()];
  known = {name, name, define(name)};
  return known.id;
}

Location Port::location(PackedLocation at) {
  const std::string name = text_of(at.file);
  const auto found = std::find(files_.begin(), files_.end(), name);
  const std::string& lasting = found != files_.end() ? *found : files_.emplace_front(name);
  return {lasting.c_str(), at.line};
}

void Port::raise(const Reply& reply) {
  const std::string text = error_text();
  const Location at = location(reply.at);
  switch (reply.error) {
    case ErrorKind::invalid_argument: throw InvalidArgument(text.c_str(), at);
    case ErrorKind::out_of_memory: throw OutOfMemory(text.c_str(), at);
    case ErrorKind::misuse: throw MisuseError(reply.misuse, text.c_str(), at);
    case ErrorKind::aborted: throw Aborted(text.c_str(), at);
    case ErrorKind::peer_failed: throw PeerFailed(text.c_str(), at);
    case ErrorKind::no_host_memory: throw std::bad_alloc();
    case ErrorKind::foreign: throw std::runtime_error(text);
    case ErrorKind::none:
    case ErrorKind::other: break;
  }
  throw Error(text.c_str(), at);
}

}  // namespace shardlings::detail
