#include "model/stretches.h"

#include <algorithm>

namespace shardlings::model {

std::vector<Stretch> stretches(const LayerStructure& whole, const LayerStructure& part) {
  std::vector<Stretch> all;
  const auto add = [&](Range range, Count at) {
    const bool follows = !all.empty() && all.back().whole + all.back().part.size() == at;
    if (follows) {
      all.back().part.end = range.end;
    } else {
      all.push_back({range, at});
    }
  };
  for (std::size_t i = 0; i < part.entries.size(); ++i) {
    const Entry &entry = part.entries[i], &of = whole.entries[i];
    const Rectangle& held = part.parts[i];
    for (Count row = 0; row < entry.rows; ++row) {
      const Count begin = entry.range.begin + row * entry.cols;
      add({begin, begin + entry.cols}, of.range.begin + (held.rows.begin + row) * of.cols + held.cols.begin);
    }
  }
  return all;
}

std::vector<Stretch> clipped(const std::vector<Stretch>& stretches, Range range) {
  std::vector<Stretch> inside;
  for (const Stretch& stretch : stretches) {
    const Range common = intersect(stretch.part, range);
    if (common.size() > 0) inside.push_back({common, stretch.whole + common.begin - stretch.part.begin});
  }
  return inside;
}

std::vector<float> taken(const std::vector<float>& whole, const std::vector<Stretch>& stretches, Range range) {
  std::vector<float> values;
  for (const auto& [part, at] : clipped(stretches, range)) {
    values.insert(values.end(), whole.begin() + at, whole.begin() + at + part.size());
  }
  return values;
}

void put(std::vector<float>& whole, const std::vector<Stretch>& stretches, Range range,
         const std::vector<float>& values) {
  for (const auto& [part, at] : clipped(stretches, range)) {
    const auto begin = values.begin() + part.begin - range.begin;
    std::copy(begin, begin + part.size(), whole.begin() + at);
  }
}

}  // namespace shardlings::model
