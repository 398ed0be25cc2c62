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
  if (port == nullptr) {
    detail::throw_invalid("this Store is empty: it was default-constructed, and not rank.store()", at);
  }
  return port;
}

/// An item as calls name it: it has to outlive a Request that is made of it. Negative numbers are none, whichever they
/// are.
struct NamedItem {
  NamedItem(const char* folder, const Item& item)
      : name(both(folder, item.what)), first(std::max(item.first, -1)), second(std::max(item.second, -1)) {}

  std::string name;
  int first, second;
};

Request to_write(Port* port, const NamedItem& item, ConstView data, std::uint64_t after, Location at) {
  return Request(
      port_of_store(port, at),
      args::store_write{
          .data = data, .item = item.name.c_str(), .first = item.first, .second = item.second, .after = after},
      at);
}

Request to_read(Port* port, const NamedItem& item, Count first, View data, Location at) {
  return Request(
      port_of_store(port, at),
      args::store_read{
          .data = data, .item = item.name.c_str(), .first = item.first, .second = item.second, .from = first},
      at);
}

/// What is known of an item: its size, or its number.
template <class Args>
Count known_of(Port* port, const NamedItem& item, Location at) {
  Request request(port_of_store(port, at), Args{.item = item.name.c_str(), .first = item.first, .second = item.second},
                  at);
  return static_cast<Count>(request.send().id);
}

}  // namespace

Work Store::write_async(const char* folder, Item item, ConstView data, const Work& after, Location at) {
  const NamedItem named(folder, item);
  return to_write(port_, named, data, detail::Access::id(after), at).comes_after(after).start();
}

void Store::write(const char* folder, Item item, ConstView data, Location at) {
  const NamedItem named(folder, item);
  to_write(port_, named, data, 0, at).send();
}

Work Store::read_async(const char* folder, Item item, Count first, View data, Location at) {
  const NamedItem named(folder, item);
  return to_read(port_, named, first, data, at).start();
}

void Store::read(const char* folder, Item item, Count first, View data, Location at) {
  const NamedItem named(folder, item);
  to_read(port_, named, first, data, at).send();
}

Count Store::size(const char* folder, Item item, Location at) {
  return known_of<args::store_size>(port_, {folder, item}, at);
}

void Store::write_number(const char* folder, Item item, Count value, Location at) {
  const NamedItem named(folder, item);
  Request(port_of_store(port_, at),
          args::store_write_number{.item = named.name.c_str(),
                                   .first = named.first,
                                   .second = named.second,
                                   .value = static_cast<std::uint64_t>(value)},
          at)
      .send();
}

Count Store::read_number(const char* folder, Item item, Location at) {
  return known_of<args::store_read_number>(port_, {folder, item}, at);
}

void Store::publish(const char* folder, const char* as, Location at) {
  const std::string names = both(folder, as);
  Request(port_of_store(port_, at), args::store_publish{.folders = names.c_str()}, at).send();
}

}  // namespace shardlings
