#include "front/memory/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"

namespace shardlings::front {

void Ledger::add(Kind kind, Bytes size, Location at) {
  live_ += size;
  live_by_kind_[static_cast<std::size_t>(kind)] += size;
  if (live_ > peak_) {
    peak_ = live_;
    peak_by_kind_ = live_by_kind_;
    peak_at_ = at;
  }
}

void Ledger::remove(Kind kind, Bytes size) {
  live_ -= size;
  live_by_kind_[static_cast<std::size_t>(kind)] -= size;
}

void Ledger::reset_peak(Location at) {
  peak_ = live_;
  peak_by_kind_ = live_by_kind_;
  peak_at_ = at;
}

LedgerChange Ledger::since(const Ledger& copy) const {
  LedgerChange of{peak_ - copy.live_, peak_by_kind_, live_ - copy.live_, live_by_kind_};
  for (std::size_t kind = 0; kind < kNumKinds; ++kind) {
    of.rise_by_kind[kind] -= copy.live_by_kind_[kind];
    of.change_by_kind[kind] -= copy.live_by_kind_[kind];
  }
  return of;
}

void Ledger::resume_peak(const Ledger& copy) {
  if (peak_ > copy.peak_) return;
  peak_ = copy.peak_;
  peak_by_kind_ = copy.peak_by_kind_;
  peak_at_ = copy.peak_at_;
}

void Ledger::repeat(const LedgerChange& change, Location at) {
  if (live_ + change.rise > peak_) {
    peak_ = live_ + change.rise;
    for (std::size_t kind = 0; kind < kNumKinds; ++kind) {
      peak_by_kind_[kind] = live_by_kind_[kind] + change.rise_by_kind[kind];
    }
    peak_at_ = at;
  }
  live_ += change.change;
  for (std::size_t kind = 0; kind < kNumKinds; ++kind) live_by_kind_[kind] += change.change_by_kind[kind];
}

void Ledger::remove(const KindBytes& by_kind) {
  for (std::size_t kind = 0; kind < kNumKinds; ++kind) {
    live_ -= by_kind[kind];
    live_by_kind_[kind] -= by_kind[kind];
  }
}

MemoryUse Ledger::use() const {
  return {live_, live_by_kind_, peak_, peak_by_kind_, std::string(base_name(peak_at_.file)), peak_at_.line};
}

namespace {

/// What is alive in a memory, by kind and by source line, largest first.
std::string alive_text(Memory memory, const StorageTable& storages) {
  struct Sum {
    Bytes size;
    int tensors = 0;
  };
  std::map<std::tuple<std::string, Kind>, Sum> by_place;
  for (const Storage* storage : storages.alive()) {
    if (storage->memory != memory) continue;
    Sum& sum = by_place[{to_text(storage->at), storage->kind}];
    sum.size += storage->weight;
    ++sum.tensors;
  }
  std::vector<std::pair<std::tuple<std::string, Kind>, Sum>> places(by_place.begin(), by_place.end());
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.second.size > b.second.size; });
  std::string text = places.empty() ? "\nNothing else is alive in it." : "\nAlive, largest first:";
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < std::min(places.size(), kShown); ++i) {
    const auto& [place, sum] = places[i];
    text += fmt::format("\n  {:>22}  {:<10} {} tensor{} from {}", to_text(sum.size), name_of(std::get<Kind>(place)),
                        sum.tensors, sum.tensors == 1 ? "" : "s", std::get<std::string>(place));
  }
  if (places.size() > kShown) text += fmt::format("\n  and {} places more", places.size() - kShown);
  return text;
}

}  // namespace

std::string out_of_memory_message(const Refused& refused, const Ledger& ledger, const StorageTable& storages) {
  const char* which = ledger.memory() == Memory::host ? "host " : "";
  const std::string what = fmt::format("{}: out of {}memory on rank {}: {} more ({})", to_text(refused.at), which,
                                       refused.rank, to_text(refused.asked), name_of(refused.kind));
  const std::string used = fmt::format("{} of {} are in use.", to_text(ledger.live()), to_text(ledger.capacity()));
  const std::string alive = alive_text(ledger.memory(), storages);
  if (refused.by_machine) {
    return fmt::format(
        "{} would fit; {}{}\nBut the machine has no memory left, which all ranks of a run share. If these sizes are "
        "meant, take a case with fewer or smaller ranks.",
        what, used, alive);
  }
  return fmt::format("{} do not fit; {}{}\n{}", what, used, alive,
                     "Drop tensors as soon as nobody reads them any more (`t = {}` frees at once).");
}

}  // namespace shardlings::front
