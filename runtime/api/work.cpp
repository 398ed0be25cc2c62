#include <utility>

#include "api/request.h"
#include "shardlings/group.h"

namespace shardlings {

using detail::Request;
namespace args = detail::args;

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
  if (id_ != 0) Request(port_, args::drop_work{.work = id_}, Location{}).release();
}

void Work::wait(Location at) {
  if (id_ == 0) return;
  Request(port_, args::wait{.work = std::exchange(id_, 0)}, at).send();
}

Work Work::keep(Tensor&& tensor) && {
  if (id_ != 0 && tensor) {
    const ConstView given = detail::Access::view(port_, detail::Access::release(std::move(tensor)));
    Request(port_, args::keep{.tensor = given, .until = id_}, Location{}).send();
  } else {
    const Tensor dropped(std::move(tensor));
  }
  return std::move(*this);
}

}  // namespace shardlings
