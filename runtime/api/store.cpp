#include "shardlings/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "api/request.h"

namespace shardlings {

using detail::Request;
namespace args = detail::args;

namespace {

constexpr std::size_t kLongestName = 64;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

/// "saving/weights": two names as one text.
std::string both(const char* first, const char* second, Location at) {
  for (const char* name : {first, second}) {
    if (is_name(name)) continue;
    detail::throw_invalid(
        fmt::format("store: '{}' is no name: letters, digits, '-' and '_' only, 1 to {} of them", name, kLongestName),
        at);
  }
  return fmt::format("{}/{}", first, second);
}

/// Negative numbers are none, whichever they are.
int number_of(int number) {
  return std::max(number, -1);
}

}  // namespace

Work Store::write_async(const char* folder, Item item, ConstView data, const Work& after, Location at) {
  const std::string name = both(folder, item.what, at);
  return Request(port_,
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
  const std::string name = both(folder, item.what, at);
  Request(port_,
          args::store_write{.data = data,
                            .item = name.c_str(),
                            .first = number_of(item.first),
                            .second = number_of(item.second),
                            .after = 0},
          at)
      .send();
}

Work Store::read_async(const char* folder, Item item, Count first, View data, Location at) {
  const std::string name = both(folder, item.what, at);
  return Request(port_,
                 args::store_read{.data = data,
                                  .item = name.c_str(),
                                  .first = number_of(item.first),
                                  .second = number_of(item.second),
                                  .from = first},
                 at)
      .start();
}

void Store::read(const char* folder, Item item, Count first, View data, Location at) {
  const std::string name = both(folder, item.what, at);
  Request(port_,
          args::store_read{.data = data,
                           .item = name.c_str(),
                           .first = number_of(item.first),
                           .second = number_of(item.second),
                           .from = first},
          at)
      .send();
}

Count Store::size(const char* folder, Item item, Location at) {
  const std::string name = both(folder, item.what, at);
  return static_cast<Count>(
      Request(port_,
              args::store_size{.item = name.c_str(), .first = number_of(item.first), .second = number_of(item.second)},
              at)
          .send()
          .id);
}

void Store::write_number(const char* folder, Item item, Count value, Location at) {
  const std::string name = both(folder, item.what, at);
  Request(port_,
          args::store_write_number{.item = name.c_str(),
                                   .first = number_of(item.first),
                                   .second = number_of(item.second),
                                   .value = static_cast<std::uint64_t>(value)},
          at)
      .send();
}

Count Store::read_number(const char* folder, Item item, Location at) {
  const std::string name = both(folder, item.what, at);
  return static_cast<Count>(
      Request(port_,
              args::store_read_number{
                  .item = name.c_str(), .first = number_of(item.first), .second = number_of(item.second)},
              at)
          .send()
          .id);
}

void Store::publish(const char* folder, const char* as, Location at) {
  const std::string names = both(folder, as, at);
  Request(port_, args::store_publish{.folders = names.c_str()}, at).send();
}

}  // namespace shardlings
