#include "report/timeline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace shardlings::report {
namespace {

using front::Event;
using front::EventKind;

// Wide enough to be legible, narrow enough for the eye to compare: a unit of time gets no more columns.
constexpr std::int64_t kMostColumnsOfUnit = 8;

struct Block {
  Paint paint = Paint::idle;
  int number = -1;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
using Blocks = std::vector<Block>;

Paint paint_of(EventKind kind) {
  switch (kind) {
    case EventKind::forward: return Paint::forward;
    case EventKind::backward: return Paint::backward;
    case EventKind::loss: return Paint::loss;
    case EventKind::update: return Paint::update;
    case EventKind::operation: return Paint::operation;
    case EventKind::collective: return Paint::collective;
    case EventKind::send: return Paint::send;
    case EventKind::recv: return Paint::recv;
    case EventKind::wait: return Paint::idle;
  }
  return Paint::idle;
}

bool is_communication(Paint paint) {
  return paint >= Paint::collective;
}

Numbering numbering_of(const std::vector<front::RankTrace>& traces) {
  std::set<int> micros;
  std::set<int> layers;
  for (const auto& trace : traces) {
    for (const Event& event : trace.events) {
      if (event.kind != EventKind::forward && event.kind != EventKind::backward) continue;
      if (event.label.micro >= 0) micros.insert(event.label.micro);
      if (event.label.layer >= 0) layers.insert(event.label.layer);
    }
  }
  if (micros.size() > 1) return Numbering::micro_batch;
  return layers.empty() ? Numbering::none : Numbering::layer;
}

int number_of(const Event& event, Numbering numbering) {
  if (numbering == Numbering::none) return -1;
  return numbering == Numbering::layer ? event.label.layer : event.label.micro;
}

// What belongs to one row, in order of time; what touches and looks the same becomes one block.
Blocks blocks_of(const front::RankTrace& trace, bool communication, Numbering numbering) {
  Blocks blocks;
  for (const Event& event : trace.events) {
    const Paint paint = paint_of(event.kind);
    if (paint == Paint::idle || is_communication(paint) != communication) continue;
    if (event.depth > 0 || event.end <= event.begin) continue;
    blocks.push_back({paint, number_of(event, numbering), event.begin.value(), event.end.value()});
  }
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.begin < b.begin; });
  Blocks merged;
  for (const Block& block : blocks) {
    const bool continues = !communication && !merged.empty() && merged.back().end == block.begin &&
                           merged.back().paint == block.paint && merged.back().number == block.number &&
                           block.number >= 0;
    if (continues) {
      merged.back().end = block.end;
    } else {
      merged.push_back(block);
    }
  }
  return merged;
}

// The greatest span of which all begins and ends are multiples.
std::int64_t unit_of(const std::vector<Blocks>& rows, std::int64_t end) {
  std::int64_t unit = end;
  for (const Blocks& blocks : rows) {
    for (const Block& block : blocks) unit = std::gcd(std::gcd(unit, block.begin), block.end);
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
  RowPainter(const Blocks& blocks, int columns, std::int64_t end, bool exact)
      : blocks_(blocks), end_(end), columns_(columns), exact_(exact), owner_(static_cast<std::size_t>(columns), -1) {}

  std::vector<Cell> paint() {
    choose_owners();
    rescue_short_blocks();
    std::vector<Cell> cells(owner_.size());
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (owner_[c] < 0) continue;
      cells[c].paint = both_ways(static_cast<int>(c)) ? Paint::exchange : block(owner_[c]).paint;
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

  // A link carries one message each way at once; one row shows both.
  bool both_ways(int c) const {
    bool sends = false;
    bool receives = false;
    for (const Block& block : blocks_) {
      if (share(block, c, columns_, end_) == 0) continue;
      sends = sends || block.paint == Paint::send;
      receives = receives || block.paint == Paint::recv;
    }
    return sends && receives;
  }

  // The number where there is room for it and for a cell that shows the kind of block, else its last digit.
  std::string digits_for(const Block& block, std::size_t room) const {
    if (block.number < 0 || (room == 1 && (!exact_ || is_communication(block.paint)))) return "";
    const std::string digits = std::to_string(block.number);
    return digits.size() < room ? digits : digits.substr(digits.size() - 1);
  }

  void write_numbers(std::vector<Cell>& cells) const {
    for (std::size_t c = 0; c < cells.size();) {
      std::size_t next = c + 1;
      while (next < cells.size() && owner_[next] == owner_[c]) ++next;
      if (owner_[c] >= 0) {
        const std::string digits = digits_for(block(owner_[c]), next - c);
        for (std::size_t i = 0; i < digits.size(); ++i) cells[c + i].digit = digits[i];
        cells[c].begins = digits.empty() && next - c > 1 && c > 0 && cells[c - 1].paint == cells[c].paint;
      }
      c = next;
    }
  }

  const Blocks& blocks_;
  std::int64_t end_;
  int columns_;
  bool exact_;              // no block ends inside a column
  std::vector<int> owner_;  // index of the block that each column shows; -1: none
};

std::int64_t end_of(const std::vector<front::RankTrace>& traces) {
  std::int64_t end = 0;
  for (const auto& trace : traces) {
    for (const Event& event : trace.events) end = std::max(end, event.end.value());
  }
  return end;
}

}  // namespace

Timeline lay_out(const std::vector<front::RankTrace>& traces, int columns) {
  Timeline timeline;
  timeline.end = Nanos(end_of(traces));
  timeline.numbering = numbering_of(traces);
  const std::int64_t end = timeline.end.value();
  if (end == 0 || columns < 1) return timeline;
  const bool computes = std::any_of(traces.begin(), traces.end(), [&](const front::RankTrace& trace) {
    return !blocks_of(trace, false, timeline.numbering).empty();
  });
  std::vector<Blocks> rows;
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    for (const bool communication : {false, true}) {
      Blocks blocks = blocks_of(traces[rank], communication, timeline.numbering);
      if (communication ? computes && blocks.empty() : !computes) continue;
      rows.push_back(std::move(blocks));
      timeline.rows.push_back({static_cast<int>(rank), communication, {}});
    }
  }
  const std::int64_t units = end / unit_of(rows, end);
  timeline.exact = units <= columns;
  timeline.columns = timeline.exact ? static_cast<int>(units * std::min(columns / units, kMostColumnsOfUnit)) : columns;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    timeline.rows[i].cells = RowPainter(rows[i], timeline.columns, end, timeline.exact).paint();
  }
  return timeline;
}

std::vector<RankRange> equal_ranks(const Timeline& timeline) {
  std::map<int, std::vector<const Row*>> by_rank;
  for (const Row& row : timeline.rows) by_rank[row.rank].push_back(&row);
  const auto same = [](const Row* a, const Row* b) {
    return a->communication == b->communication && a->cells == b->cells;
  };
  std::vector<RankRange> ranges;
  for (const auto& [rank, rows] : by_rank) {
    const bool joins = !ranges.empty() && std::equal(rows.begin(), rows.end(), by_rank[ranges.back().last].begin(),
                                                     by_rank[ranges.back().last].end(), same);
    if (joins) {
      ranges.back().last = rank;
    } else {
      ranges.push_back({rank, rank});
    }
  }
  return ranges;
}

std::vector<std::int64_t> memory_curve(const front::RankTrace& trace, Nanos end, int columns) {
  if (trace.memory.empty() || columns < 1 || end <= Nanos(0)) return {};
  std::vector<std::int64_t> curve(static_cast<std::size_t>(columns), 0);
  std::int64_t live = 0;
  std::size_t filled = 0;  // columns before it are final but for points of their own time
  for (const front::MemoryPoint& point : trace.memory) {
    const std::int64_t time = point.time.value();
    const auto column = static_cast<std::size_t>(column_of(time, columns, end.value()));
    for (; filled < column; ++filled) curve[filled] = std::max(curve[filled], live);
    const bool inside = time * columns > static_cast<std::int64_t>(column) * end.value();
    if (filled == column && inside) curve[filled++] = live;
    live = 0;
    for (const Bytes bytes : point.live) live += bytes.value();
    curve[column] = std::max(curve[column], live);
  }
  for (; filled < curve.size(); ++filled) curve[filled] = std::max(curve[filled], live);
  return curve;
}

Totals totals_of(const std::vector<front::Counters>& counters) {
  Totals totals;
  Nanos computing;
  for (std::size_t rank = 0; rank < counters.size(); ++rank) {
    const front::Counters& of_rank = counters[rank];
    totals.end = std::max(totals.end, of_rank.end);
    computing += of_rank.busy[static_cast<std::size_t>(front::Lane::compute)];
    totals.transfer += of_rank.exposed_transfer + of_rank.overlapped_transfer;
    totals.overlapped += of_rank.overlapped_transfer;
    const Bytes sent = of_rank.bytes_sent();
    totals.sent_equal = totals.sent_equal && sent == counters[0].bytes_sent();
    totals.sent += sent;
    totals.sent_by_most = std::max(totals.sent_by_most, sent);
    if (rank == 0 || of_rank.peak > totals.peak) {
      totals.peak = of_rank.peak;
      totals.peak_rank = static_cast<int>(rank);
      totals.peak_file = of_rank.peak_file;
      totals.peak_line = of_rank.peak_line;
    }
  }
  const Nanos available = totals.end * static_cast<std::int64_t>(counters.size());
  if (available > Nanos(0)) totals.idle = 1 - computing / available;
  totals.computes = computing > Nanos(0);
  return totals;
}

}  // namespace shardlings::report
