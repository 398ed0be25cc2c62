#include "model/stretches.h"

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

}  // namespace shardlings::model
