#include <utility>

#include "api/access.h"
#include "shardlings/group.h"

namespace shardlings {

using detail::Call;
using detail::Verb;

Work::Work(Work&& other) noexcept : port_(std::exchange(other.port_, nullptr)), id_(std::exchange(other.id_, 0)) {}

Work& Work::operator=(Work&& other) noexcept {
  if (this != &other) {
    const Work old(std::move(*this));  // a Work that was not waited for is a leak, whether dropped or overwritten
    port_ = std::exchange(other.port_, nullptr);
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

Work::~Work() {
  if (id_ == 0) return;
  Call call;
  call.verb = Verb::drop_work;
  call.id = id_;
  port_->release(call);
}

void Work::wait(Location at) {
  if (id_ == 0) return;
  Call call;
  call.verb = Verb::wait;
  call.at = at;
  call.id = std::exchange(id_, 0);
  port_->call(call);
}

Work Work::keep(Tensor&& tensor) && {
  if (id_ != 0 && tensor) {
    Call call;
    call.verb = Verb::keep;
    call.id = id_;
    call.num_tensors = 1;
    call.tensor[0] = detail::Access::release(std::move(tensor));
    port_->call(call);
  } else {
    const Tensor dropped(std::move(tensor));
  }
  return std::move(*this);
}

}  // namespace shardlings
