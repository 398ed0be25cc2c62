#include "report/timeline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace shardlings::report {
namespace {

// Wide enough to be legible, narrow enough for the eye to compare: a unit of time gets no more columns.
constexpr std::int64_t kMostColumnsOfUnit = 8;

// The greatest span of which all begins and ends are multiples; or something less, where more than `most` would fit
// into `end`.
std::int64_t unit_of(const std::vector<LaneBlocks>& lanes, std::int64_t end, std::int64_t most) {
  std::int64_t unit = end;
  for (const LaneBlocks& lane : lanes) {
    for (const Block& block : lane.blocks) {
      unit = std::gcd(std::gcd(unit, block.begin), block.end);
      if (end / unit > most) return unit;
    }
  }
  return unit;
}

// Time that a block spends in column c of `columns`, times `columns` (so that it stays an integer).
std::int64_t share(const Block& block, int c, int columns, std::int64_t end) {
  const std::int64_t begin = std::max(block.begin * columns, c * end);
  const std::int64_t stop = std::min(block.end * columns, (c + 1) * end);
  return std::max<std::int64_t>(0, stop - begin);
}

int column_of(std::int64_t time, int columns, std::int64_t end) {
  return static_cast<int>(std::clamp<std::int64_t>(time * columns / end, 0, columns - 1));
}

class RowPainter {
 public:
  RowPainter(const std::vector<Block>& blocks, int columns, std::int64_t end, bool exact)
      : blocks_(blocks),
        end_(end),
        columns_(columns),
        exact_(exact),
        owner_(static_cast<std::size_t>(columns), -1),
        ways_(static_cast<std::size_t>(columns), 0) {}

  std::vector<Cell> paint() {
    choose_owners();
    rescue_short_blocks();
    std::vector<Cell> cells(owner_.size());
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (owner_[c] < 0) continue;
      cells[c].paint = ways_[c] == (kSends | kReceives) ? Paint::exchange : block(owner_[c]).paint;
      cells[c].hue = block(owner_[c]).hue;
    }
    write_numbers(cells);
    return cells;
  }

 private:
  const Block& block(int i) const { return blocks_[static_cast<std::size_t>(i)]; }

  // The block with the largest share of a column owns it, if it is at least as large as what is idle.
  void choose_owners() {
    std::vector<std::int64_t> best(owner_.size(), 0);
    std::vector<std::int64_t> covered(owner_.size(), 0);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const int last = static_cast<int>((blocks_[i].end * columns_ - 1) / end_);
      for (int c = column_of(blocks_[i].begin, columns_, end_); c <= last; ++c) {
        const auto at = static_cast<std::size_t>(c);
        const std::int64_t part = share(blocks_[i], c, columns_, end_);
        covered[at] += part;
        if (part > 0 && blocks_[i].paint == Paint::send) ways_[at] |= kSends;
        if (part > 0 && blocks_[i].paint == Paint::recv) ways_[at] |= kReceives;
        if (part > best[at]) {
          best[at] = part;
          owner_[at] = static_cast<int>(i);
        }
      }
    }
    for (std::size_t c = 0; c < owner_.size(); ++c) {
      if (2 * covered[c] < end_) owner_[c] = -1;
    }
  }

  void rescue_short_blocks() {
    const std::set<int> seen(owner_.begin(), owner_.end());
    for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) {
      if (seen.count(i) > 0) continue;
      const auto middle = static_cast<std::size_t>(column_of((block(i).begin + block(i).end) / 2, columns_, end_));
      if (owner_[middle] < 0) owner_[middle] = i;
    }
  }

  // The number where there is room for it and for a cell that shows the kind of block, else its last digit. Only
  // forward may be a digit and nothing else: a reader who sees one takes it for that.
  std::string digits_for(const Block& block, std::size_t room) const {
    if (block.number < 0 || (room == 1 && (!exact_ || block.paint != Paint::forward))) return "";
    const std::string digits = std::to_string(block.number);
    return digits.size() < room ? digits : digits.substr(digits.size() - 1);
  }

  // The next layer of the same micro-batch: its colour says so, and the number stands there already.
  bool goes_on(std::size_t c) const {
    if (c == 0 || owner_[c - 1] < 0) return false;
    const Block& before = block(owner_[c - 1]);
    const Block& here = block(owner_[c]);
    return before.paint == here.paint && before.number == here.number && here.number >= 0 && before.hue != here.hue &&
           before.end == here.begin;
  }

  void write_numbers(std::vector<Cell>& cells) const {
    for (std::size_t c = 0; c < cells.size();) {
      std::size_t next = c + 1;
      while (next < cells.size() && owner_[next] == owner_[c]) ++next;
      if (owner_[c] >= 0 && !goes_on(c)) {
        const std::string digits = digits_for(block(owner_[c]), next - c);
        for (std::size_t i = 0; i < digits.size(); ++i) cells[c + i].digit = digits[i];
        cells[c].begins = digits.empty() && next - c > 1 && c > 0 && cells[c - 1].paint == cells[c].paint;
      }
      c = next;
    }
  }

  const std::vector<Block>& blocks_;
  std::int64_t end_;
  int columns_;
  bool exact_;              // no block ends inside a column
  std::vector<int> owner_;  // index of the block that each column shows; -1: none
  // A link carries one message each way at once; one row shows both.
  static constexpr std::uint8_t kSends = 1, kReceives = 2;
  std::vector<std::uint8_t> ways_;
};

}  // namespace

Timeline lay_out(const std::vector<front::RankTrace>& traces, int columns, const std::vector<front::RankTrace>& goal) {
  // Laid out as further ranks of one run, the goal has the same axis, colours and numbers.
  std::vector<front::RankTrace> both;
  if (!goal.empty()) {
    both = traces;
    both.insert(both.end(), goal.begin(), goal.end());
  }
  const RunBlocks run = blocks_of(goal.empty() ? traces : both);
  Timeline timeline;
  timeline.end = run.end;
  timeline.numbering = run.numbering;
  timeline.colouring = run.colouring;
  const std::int64_t end = run.end.value();
  if (end == 0 || columns < 1) return timeline;
  const std::int64_t units = end / unit_of(run.lanes, end, columns);
  timeline.exact = units <= columns;
  timeline.columns = timeline.exact ? static_cast<int>(units * std::min(columns / units, kMostColumnsOfUnit)) : columns;
  const int ranks = static_cast<int>(traces.size());
  for (const LaneBlocks& lane : run.lanes) {
    const bool is_goal = lane.rank >= ranks;
    (is_goal ? timeline.goal : timeline.rows)
        .push_back({is_goal ? lane.rank - ranks : lane.rank, lane.lane,
                    RowPainter(lane.blocks, timeline.columns, end, timeline.exact).paint()});
  }
  return timeline;
}

std::vector<RankRange> equal_ranks(const Timeline& timeline, const std::vector<std::string>& strips) {
  std::map<int, std::vector<const Row*>> by_rank;
  for (const Row& row : timeline.rows) by_rank[row.rank].push_back(&row);
  const auto same = [](const Row* a, const Row* b) { return a->lane == b->lane && a->cells == b->cells; };
  std::vector<RankRange> ranges;
  for (const auto& [rank, rows] : by_rank) {
    const auto strip = [&](int of) { return strips.empty() ? std::string() : strips.at(static_cast<std::size_t>(of)); };
    const bool joins = !ranges.empty() && strip(rank) == strip(ranges.back().last) &&
                       std::equal(rows.begin(), rows.end(), by_rank[ranges.back().last].begin(),
                                  by_rank[ranges.back().last].end(), same);
    if (joins) {
      ranges.back().last = rank;
    } else {
      ranges.push_back({rank, rank});
    }
  }
  return ranges;
}

}  // namespace shardlings::report
