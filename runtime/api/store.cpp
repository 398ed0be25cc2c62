#include "shardlings/store.h"

#include <algorithm>
#include <string>

#include "api/request.h"

namespace shardlings {

using detail::Port;
using detail::Request;
namespace args = detail::args;

namespace {

/// "saving/weights": two names as one text. What is wrong about them the runtime's side says.
std::string both(const char* first, const char* second) {
  return std::string(first) + "/" + second;
}

/// An empty Store has none: there is nobody to ask.
Port* port_of_store(Port* port, Location at) {
  if (port == nullptr)
    detail::throw_invalid("this Store is empty: it was default-constructed, and not rank.store()", at);
  return port;
}

/// Negative numbers are none, whichever they are.
int number_of(int number) {
  return std::max(number, -1);
}

}  // namespace

Work Store::write_async(const char* folder, Item item, ConstView data, const Work& after, Location at) {
  const std::string name = both(folder, item.what);
  return Request(port_of_store(port_, at),
                 args::store_write{.data = data,
                                   .item = name.c_str(),
                                   .first = number_of(item.first),
                                   .second = number_of(item.second),
                                   .after = detail::Access::id(after)},
                 at)
      .comes_after(after)
      .start();
}

void Store::write(const char* folder, Item item, ConstView data, Location at) {
  const std::string name = both(folder, item.what);
  Request(port_of_store(port_, at),
          args::store_write{.data = data,
                            .item = name.c_str(),
                            .first = number_of(item.first),
                            .second = number_of(item.second),
                            .after = 0},
          at)
      .send();
}

Work Store::read_async(const char* folder, Item item, Count first, View data, Location at) {
  const std::string name = both(folder, item.what);
  return Request(port_of_store(port_, at),
                 args::store_read{.data = data,
                                  .item = name.c_str(),
                                  .first = number_of(item.first),
                                  .second = number_of(item.second),
                                  .from = first},
                 at)
      .start();
}

void Store::read(const char* folder, Item item, Count first, View data, Location at) {
  const std::string name = both(folder, item.what);
  Request(port_of_store(port_, at),
          args::store_read{.data = data,
                           .item = name.c_str(),
                           .first = number_of(item.first),
                           .second = number_of(item.second),
                           .from = first},
          at)
      .send();
}

Count Store::size(const char* folder, Item item, Location at) {
  const std::string name = both(folder, item.what);
  return static_cast<Count>(
      Request(port_of_store(port_, at),
              args::store_size{.item = name.c_str(), .first = number_of(item.first), .second = number_of(item.second)},
              at)
          .send()
          .id);
}

void Store::write_number(const char* folder, Item item, Count value, Location at) {
  const std::string name = both(folder, item.what);
  Request(port_of_store(port_, at),
          args::store_write_number{.item = name.c_str(),
                                   .first = number_of(item.first),
                                   .second = number_of(item.second),
                                   .value = static_cast<std::uint64_t>(value)},
          at)
      .send();
}

Count Store::read_number(const char* folder, Item item, Location at) {
  const std::string name = both(folder, item.what);
  return static_cast<Count>(
      Request(port_of_store(port_, at),
              args::store_read_number{
                  .item = name.c_str(), .first = number_of(item.first), .second = number_of(item.second)},
              at)
          .send()
          .id);
}

void Store::publish(const char* folder, const char* as, Location at) {
  const std::string names = both(folder, as);
  Request(port_of_store(port_, at), args::store_publish{.folders = names.c_str()}, at).send();
}

}  // namespace shardlings
