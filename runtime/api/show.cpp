#include "shardlings/show.h"

#include "api/request.h"

namespace shardlings {

void show(ConstView x, const char* label, Location at) {
  detail::Port* port = x ? detail::Access::port(x) : detail::PortOfThisThread::get();
  if (port == nullptr) return;
  detail::Request(port, detail::args::show{.x = x, .label = label != nullptr ? label : ""}, at).send();
}

}  // namespace shardlings
