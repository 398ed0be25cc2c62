#include "shardlings/error.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "shardlings/puzzle.h"

namespace shardlings {
namespace {

char* copy_of(const char* text) {
  char* copy = strdup(text);
  if (!copy) throw std::bad_alloc();
  return copy;
}

}  // namespace

Error::Error(const char* message, Location at) : message_(copy_of(message)), at_(at) {}
Error::Error(const Error& other) : std::exception(other), message_(copy_of(other.message_)), at_(other.at_) {}
Error::~Error() {
  std::free(message_);
}
InvalidArgument::~InvalidArgument() = default;
OutOfMemory::~OutOfMemory() = default;
MisuseError::~MisuseError() = default;
Aborted::~Aborted() = default;
PeerFailed::~PeerFailed() = default;
NotImplemented::NotImplemented(Location at) : Error("not implemented yet", at) {}
NotImplemented::~NotImplemented() = default;

void not_implemented(Location at) {
  throw NotImplemented(at);
}

}  // namespace shardlings
