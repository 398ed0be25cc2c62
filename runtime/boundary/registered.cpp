#include "boundary/registered.h"

#include <utility>

namespace shardlings::boundary {
namespace {

/// In a function: it is used by constructors of other files' objects.
const Registered*& first_registered() {
  static const Registered* first = nullptr;
  return first;
}

}  // namespace

Registered::Registered(const char* name, void (*function)(), Serve serve)
    : name_(name), function_(function), serve_(serve), next_(std::exchange(first_registered(), this)) {}

const Registered* Registered::find(std::string_view name) {
  const Registered* one = first_registered();
  while (one != nullptr && one->name_ != name) one = one->next_;
  return one;
}

}  // namespace shardlings::boundary
