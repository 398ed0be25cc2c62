#include "shardlings/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/invalid.h"

namespace shardlings {

using detail::throw_invalid;

namespace {

/// "replicate 2 x shard 4".
std::string text_of(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name, axis.size);
  return text.empty() ? "without axes" : text;
}

void check_axes(const std::vector<Axis>& axes, int ranks, Location at) {
  std::int64_t cells = 1;
  for (const Axis& axis : axes) {
    const std::string_view name = axis.name;
    const auto same = [&](const Axis& other) { return other.name == name; };
    if (name.empty()) throw_invalid(fmt::format("grid {}: an axis has no name", text_of(axes)), at);
    if (std::count_if(axes.begin(), axes.end(), same) > 1) {
      throw_invalid(fmt::format("grid {}: axis \"{}\" is there twice", text_of(axes), name), at);
    }
    if (axis.size < 1)
      throw_invalid(fmt::format("grid {}: axis \"{}\" needs a size of 1 or more", text_of(axes), name), at);
    cells = std::min<std::int64_t>(cells * axis.size, std::int64_t{1} << 31U);  // more than any group, no overflow
  }
  if (cells == ranks) return;
  throw_invalid(fmt::format("grid {}: the sizes multiply to {}, but the group has {} rank{}: they must be equal",
                            text_of(axes), cells, ranks, ranks == 1 ? "" : "s"),
                at);
}

}  // namespace

Grid::Grid(const Group& group, std::initializer_list<Axis> axes, Location at) : all_(group), axes_(axes) {
  check_axes(axes_, group.size(), at);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    std::vector<bool> chosen(axes_.size());
    chosen[i] = true;
    along_.push_back(split(chosen, axes_[i].name, at));
  }
}

int Grid::index_of(const char* axis, Location at) const {
  const std::string_view name = axis;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == name) return static_cast<int>(i);
  }
  throw_invalid(fmt::format("there is no axis \"{}\" in grid {}", name, text_of(axes_)), at);
}

int Grid::coordinate_at(int axis) const {
  int stride = 1;
  for (std::size_t i = axes_.size(); i-- > static_cast<std::size_t>(axis) + 1;) stride *= axes_[i].size;
  return all_.rank() / stride % axes_[static_cast<std::size_t>(axis)].size;
}

/// The group of the ranks that differ from this one in the chosen axes only: the others make the color.
Group Grid::split(const std::vector<bool>& chosen, const char* name, Location at) const {
  int color = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!chosen[i]) color = color * axes_[i].size + coordinate_at(static_cast<int>(i));
  }
  Group all = all_;
  return all.split(color, all.rank(), name, at);
}

int Grid::size(const char* axis, Location at) const {
  return axes_[static_cast<std::size_t>(index_of(axis, at))].size;
}

int Grid::coordinate(const char* axis, Location at) const {
  return coordinate_at(index_of(axis, at));
}

Group Grid::along(const char* axis, Location at) const {
  return along_[static_cast<std::size_t>(index_of(axis, at))];
}

Group Grid::across(std::initializer_list<const char*> axes, Location at) const {
  std::vector<bool> chosen(axes_.size());
  for (const char* axis : axes) {
    const auto i = static_cast<std::size_t>(index_of(axis, at));
    if (chosen[i])
      throw_invalid(fmt::format("a group across axes of grid {}: \"{}\" is there twice", text_of(axes_), axis), at);
    chosen[i] = true;
  }
  std::string name;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (chosen[i]) name += (name.empty() ? "" : " x ") + std::string(axes_[i].name);
  }
  if (name.empty()) throw_invalid(fmt::format("a group across axes of grid {} names none", text_of(axes_)), at);
  return split(chosen, name.c_str(), at);
}

}  // namespace shardlings
