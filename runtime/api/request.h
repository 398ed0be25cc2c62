/// \file
/// Puts a Call together from a public function's arguments and finds the Port to send it through.
#pragma once

#include <string>
#include <utility>

#include "api/access.h"
#include "api/arguments.h"
#include "api/invalid.h"

namespace shardlings::detail {

/// A Call under construction.
class Request {
 public:
  /// Throws InvalidArgument for tensors of several ranks. `name`: if it is not the verb's own.
  template <class Args>
  Request(const Args& args, Location at, const char* name = nullptr) : Request(nullptr, args, at, name) {}
  /// To a Port that is known already.
  template <class Args>
  Request(Port* port, const Args& args, Location at, const char* name = nullptr)
      : name_(name != nullptr ? name : name_of(Args::kVerb)), at_(at), port_(port) {
    call_.verb = Args::kVerb;
    pack(*this, args);
  }

  /// Throws if the work that its arguments say it comes after is another rank's.
  Request& comes_after(const Work& after) {
    if (Access::id(after) != 0 && port_ != nullptr && Access::port(after) != port_) {
      fail("the work that this comes after is another rank's");
    }
    return *this;
  }

  /// Where it goes: to the rank of its tensors. Throws InvalidArgument if all of them are empty.
  Port& port() const {
    if (port_ == nullptr) {
      fail(call_.num_tensors > 1 ? "all its tensors are empty (moved from, or never allocated)"
                                 : "the tensor is empty (moved from, or never allocated)");
    }
    return *port_;
  }
  /// Throws what the runtime answers, and what port() does.
  Reply send() { return send_through(port()); }
  /// To another Port than that of the tensors: a harness's.
  Reply send_through(Port& port) {
    call_.at = port.packed(at_);
    if (text_[0] != '\0') call_.text = port.text(text_, at_);
    return port.call(call_);
  }
  /// From a destructor.
  void release() noexcept { port_->release(call_); }
  /// The reply's first tensor, whose owner the result is.
  Tensor result() { return adopt(send().tensor[0]); }
  /// The same of a call that uses a tensor up. The tensor is the runtime's from now on, and not before: if something
  /// was wrong with the arguments, it is still the caller's.
  Tensor result_using_up(Tensor&& tensor) {
    static_cast<void>(Access::release(std::move(tensor)));
    return result();
  }
  /// Starts the operation instead of waiting for it.
  Work start() {
    call_.blocking = 0;
    const Reply reply = send();
    return Access::work(port_, reply.id);
  }
  Tensor adopt(const Ref& ref) const { return Access::adopt(port_, ref); }

  [[noreturn]] void fail(const char* sentence) const { throw_invalid(std::string(name_) + ": " + sentence, at_); }

  /// \name What pack() hands over, in the order of the table
  /// @{
  /// An empty view too, for the handler to judge.
  void add_tensor(const ConstView& view) {
    Port* port = Access::port(view);
    if (view && port_ != nullptr && port != port_) fail("the tensors belong to different ranks");
    if (view) port_ = port;
    call_.tensor[call_.num_tensors++] = Access::ref(view);
  }
  void add_tensor(const MadeLike& like) {
    Ref& ref = call_.tensor[call_.num_tensors++];
    ref.shape = like.shape;
    ref.dtype = like.dtype;
  }
  void add_tensor(std::initializer_list<ConstView> parts) {
    static_assert(kMaxTensors == 8, "ops.h and this message say how many");
    if (parts.size() > static_cast<std::size_t>(kMaxTensors)) fail("at most 8 parts at once");
    for (const ConstView& part : parts) add_tensor(part);
  }
  void add_number(std::int64_t value) { call_.number[numbers_++] = value; }
  void add_scalar(float value) { call_.scalar[scalars_++] = value; }
  void add_in_group(std::uint32_t id) { call_.group = id; }
  void add_of_model(std::uint32_t id) { call_.model = id; }
  void add_work(std::uint64_t id) { call_.id = id; }
  void add_saved(std::uint64_t id) { call_.id = id; }
  void add_lent(std::uint64_t id) { call_.id = id; }
  void add_text(const char* text) { text_ = text; }
  /// @}

 private:
  const char* name_;
  Location at_;
  Call call_;
  Port* port_;
  const char* text_ = "";
  int numbers_ = 0;
  int scalars_ = 0;
};

}  // namespace shardlings::detail
