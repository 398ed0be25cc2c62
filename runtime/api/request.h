/// \file
/// Puts a Call together from a public function's arguments and finds the Port to send it through.
#pragma once

#include <string>

#include "api/access.h"
#include "api/invalid.h"

namespace shardlings::detail {

/// A Call under construction. Arguments come in the order in which the verb's handler expects them.
class Request {
 public:
  Request(Verb verb, const char* name, Location at) : name_(name) {
    call_.verb = verb;
    call_.at = at;
  }

  /// An argument; an empty view too, for the handler to judge. Throws InvalidArgument for tensors of several ranks.
  Request& tensor(const ConstView& view) {
    Port* port = Access::port(view);
    if (view && port_ != nullptr && port != port_) fail("the tensors belong to different ranks");
    if (view) port_ = port;
    call_.tensor[call_.num_tensors++] = Access::ref(view);
    return *this;
  }
  Request& tensor(const Tensor& tensor) { return this->tensor(ConstView(tensor)); }
  Request& number(std::int64_t value) {
    call_.number[numbers_++] = value;
    return *this;
  }
  Request& range(Range range) { return number(range.begin).number(range.end); }
  Request& scalar(float value) {
    call_.scalar[scalars_++] = value;
    return *this;
  }

  /// Starts the operation instead of waiting for it; it comes after other work.
  Request& starts_after(const Work& after) {
    if (Access::id(after) != 0 && port_ != nullptr && Access::port(after) != port_) {
      fail("the work that this comes after is another rank's");
    }
    call_.blocking = false;
    call_.id = Access::id(after);
    return *this;
  }

  /// Throws what the handler throws; InvalidArgument if all arguments are empty.
  Reply send() {
    if (port_ == nullptr) fail("the tensor is empty (moved from, or never allocated)");
    return port_->call(call_);
  }
  /// The reply's first tensor, whose owner the result is.
  Tensor result() { return adopt(send().tensor[0]); }
  /// The Work that the reply names.
  Work work() {
    const Reply reply = send();
    return Access::work(port_, reply.id);
  }
  Tensor adopt(const Ref& ref) const { return Access::adopt(port_, ref); }

  [[noreturn]] void fail(const char* sentence) const { throw_invalid(std::string(name_) + ": " + sentence, call_.at); }

 private:
  const char* name_;
  Call call_;
  Port* port_ = nullptr;
  int numbers_ = 0;
  int scalars_ = 0;
};

}  // namespace shardlings::detail
