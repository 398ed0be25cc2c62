#include "front/memory/rank_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "back/kernels/kernel_ids.h"
#include "base/bf16.h"
#include "base/dtype.h"
#include "base/extents.h"
#include "base/float8.h"
#include "base/poison.h"
#include "base/text.h"
#include "front/rank/rank_context.h"

namespace shardlings::front {

using detail::Call;
using detail::Ref;

namespace {

/// `size`: that of the reference's shape.
bool inside(const Ref& ref, Count size, const Storage& storage) {
  return ref.offset >= 0 && size >= 0 && ref.offset + size <= storage.count && ref.dtype == storage.dtype;
}

// Where a tensor comes from; what the puzzle was handed has no line in the learner's source.
std::string origin(Location at) {
  return at.line == 0 ? "that the puzzle was given" : "from " + to_text(at);
}

// Whether the operation of a mark reads a range, or writes it; one in place has two marks.
bool works_on(const Storage& storage, const InFlight& mark, Range range, bool writing) {
  return std::any_of(storage.in_flight.begin(), storage.in_flight.end(), [&](const InFlight& other) {
    return other.work == mark.work && other.writes == writing && intersect(other.range, range).size() > 0;
  });
}

const char* use_of(const Storage& storage, const InFlight& mark, Range range) {
  if (!works_on(storage, mark, range, true)) return "reads";
  return works_on(storage, mark, range, false) ? "reads and writes" : "writes";
}

// `reads`: the operation in flight needs what is there. Then waiting for it may only bring wrong numbers into an order:
// of a gradient, say, that backward makes only now. `partly`: each has elements that the other has not, as neighbours
// have of which one is too long; then no wait() mends it.
std::string race_advice(const std::string& call, const char* operation, const Lookup& lookup, bool reads, bool partly) {
  std::string advice = lookup.could_follow ? "Let this come `after` its Work, or call wait() on that before this line."
                                           : "Call wait() on its Work before this line.";
  if (partly) {
    advice += " But if these elements belong to one of the two only, look where each begins and ends.";
  } else if (lookup.writes && reads) {
    advice += fmt::format(" But if {} is for what {} writes here, start it only after that.", operation, call);
  }
  return advice;
}

void release(back::Device& device, const Storage& storage) {
  if (storage.memory == Memory::host) {
    device.release_host(storage.data, storage.bytes());
  } else {
    device.release(storage.data, storage.bytes());
  }
}

}  // namespace

RankMemory::RankMemory(RankContext& rank)
    : rank_(rank),
      ledgers_{Ledger(Memory::device, rank.options().capacity), Ledger(Memory::host, rank.options().host_capacity)} {}

RankMemory::~RankMemory() {
  // Tensors that the program still holds when its rank has failed: the memory goes with the rank.
  for (const Storage* storage : storages_.alive()) release(rank_.device(), *storage);
}

Memory RankMemory::memory_of(const Ref& ref) {
  const Storage* storage = storages_.find(ref.storage, ref.generation);
  return storage ? storage->memory : Memory::device;
}

bool RankMemory::holds(const Ref& ref) {
  const Storage* storage = storages_.find(ref.storage, ref.generation);
  return storage != nullptr && !storage->dropped && inside(ref, ref.shape.size(), *storage);
}

Operand RankMemory::find(const Call& call, const Lookup& lookup) {
  const Ref& ref = call.tensor[lookup.index];
  if (ref.storage == 0) return {};
  const Storage* storage = storages_.find(ref.storage, ref.generation);
  if (!storage || storage->dropped) {
    rank_.invalid(call, fmt::format("{}: tensor argument {} has been freed already (dropped, moved from, or "
                                    "overwritten)",
                                    rank_.called(call), lookup.index + 1));
  }
  const Count size = ref.shape.size();
  if (!inside(ref, size, *storage)) {
    rank_.invalid(
        call, fmt::format("{}: tensor argument {} is not inside its storage", rank_.called(call), lookup.index + 1));
  }
  if (!storage->in_flight.empty()) check_race(call, *storage, {ref.offset, ref.offset + size}, lookup);
  if (lookup.on_device && storage->memory != Memory::device) {
    rank_.invalid(call,
                  fmt::format("{}: tensor argument {} is in the host's memory, which only copy, copy_async, adam and "
                              "adam_async can use. Copy it to the device first",
                              rank_.called(call), lookup.index + 1));
  }
  return {static_cast<char*>(storage->data) + ref.offset * size_of(ref.dtype),
          ref,
          storage->kind,
          storage->memory,
          label_in(ref, *storage),
          size};
}

void RankMemory::check_race(const Call& call, const Storage& storage, Range range, const Lookup& lookup) const {
  if (!rank_.options().checks) return;
  for (const InFlight& mark : storage.in_flight) {
    const Range both = intersect(mark.range, range);
    if (both.size() == 0 || !(lookup.writes || mark.writes)) continue;
    if (std::find(lookup.after.begin(), lookup.after.end(), mark.work) != lookup.after.end()) continue;
    const bool partly = both.size() < range.size() && both.size() < mark.range.size();
    const std::string sentence = fmt::format(
        "race: {}: rank {}: {} {} elements [{}, {}) of a tensor {} while {} of {} is still in flight and {} "
        "them.\n{}",
        to_text(rank_.place(call)), rank_.id(), rank_.called(call), lookup.writes ? "writes" : "reads", both.begin,
        both.end, origin(storage.at), mark.operation, to_text(mark.at), use_of(storage, mark, range),
        race_advice(rank_.called(call), mark.operation, lookup, works_on(storage, mark, range, false), partly));
    throw MisuseError(Misuse::race, sentence.c_str(), rank_.place(call));
  }
}

Operand RankMemory::allocate(Shape shape, DType dtype, Kind kind, Memory memory, Location at, int micro) {
  if (!is_possible(shape)) {
    bool has_negative = false;
    for (int i = 0; i < shape.rank(); ++i) has_negative = has_negative || shape[i] < 0;
    throw InvalidArgument(
        fmt::format("{}: rank {}: a tensor cannot have the shape {}: {}", to_text(at), rank_.id(), to_text(shape),
                    has_negative ? "an extent is negative" : "it has more elements than any memory holds")
            .c_str(),
        at);
  }
  const Count count = shape.size();
  const Bytes weight = rank_.costs().weight(count, dtype, kind);
  if (!ledger(memory).fits(weight)) {
    out_of_memory({.rank = rank_.id(), .asked = weight, .kind = kind, .at = at}, memory);
  }
  const Operand made = add_storage({shape, count, dtype, kind, weight, memory, at, micro});
  ledger(memory).add(kind, weight, at);
  note_curve(memory);
  if (rank_.options().poison_empty) {
    fill(made, dtype == DType::i32 ? -1e9F : kPoison);
  }
  return made;
}

void RankMemory::require_room(Bytes size, Kind kind, Location at) {
  if (ledger(Memory::device).fits(size)) return;
  out_of_memory({.rank = rank_.id(), .asked = size, .kind = kind, .at = at}, Memory::device);
}

Operand RankMemory::add_storage(const NewStorage& made) {
  void* const data = allocate_on_device(made);
  const std::uint32_t index = storages_.take();
  Storage& storage = storages_.at(index);
  storage.data = data;
  storage.count = made.count;
  storage.dtype = made.dtype;
  storage.kind = made.kind;
  storage.weight = made.weight;
  storage.memory = made.memory;
  storage.label.micro = made.micro;
  storage.at = made.at;
  const Ref ref{.storage = index, .generation = storage.generation, .shape = made.shape, .dtype = made.dtype};
  return {data, ref, storage.kind, made.memory, storage.label, made.count};
}

void RankMemory::repeat(const LedgerChange& change, Location at) {
  Ledger& device = ledger(Memory::device);
  rank_.calls().note_tensors(device.live() + change.rise + ledger(Memory::host).live());
  device.repeat(change, at);
  rank_.set_live(device.live());
}

void RankMemory::remove(const KindBytes& by_kind) {
  ledger(Memory::device).remove(by_kind);
  note_curve(Memory::device);
}

Operand RankMemory::allocate_counted(Shape shape, DType dtype, Kind kind, Location at) {
  const Count count = shape.size();
  return add_storage({.shape = shape,
                      .count = count,
                      .dtype = dtype,
                      .kind = kind,
                      .weight = rank_.costs().weight(count, dtype, kind),
                      .at = at});
}

void RankMemory::free_counted(const Ref& ref) {
  Storage* storage = storages_.find(ref.storage, ref.generation);
  if (!storage) return;
  release(rank_.device(), *storage);
  storages_.erase(ref.storage);
}

void RankMemory::fill(const Operand& target, float value) {
  if (target.size() == 0) return;
  back::Kernel kernel;
  kernel.id = back::KernelId::fill;
  kernel.dtype = target.dtype();
  kernel.out[0] = target.data;
  kernel.n[0] = target.size();
  kernel.f[0] = value;
  back::Device& device = rank_.device();
  if (target.memory == Memory::device) return device.launch(kernel);
  device.wait(back::DeviceLane::host, device.record(back::DeviceLane::compute));
  device.launch(kernel, back::DeviceLane::host);
  device.wait(back::DeviceLane::compute, device.record(back::DeviceLane::host));
}

std::vector<float> RankMemory::download(const Operand& from) {
  std::vector<float> values(static_cast<std::size_t>(from.size()));
  if (values.empty()) return values;
  if (from.dtype() == DType::f32) {
    rank_.device().download(values.data(), from.data, from.bytes());
  } else if (from.dtype() == DType::i32) {
    std::vector<std::int32_t> raw(values.size());
    rank_.device().download(raw.data(), from.data, from.bytes());
    for (std::size_t i = 0; i < raw.size(); ++i) values[i] = static_cast<float>(raw[i]);
  } else if (is_one_byte(from.dtype())) {
    const auto value_of = from.dtype() == DType::e4m3 ? float_of_e4m3 : float_of_e8m0;
    std::vector<std::uint8_t> raw(values.size());
    rank_.device().download(raw.data(), from.data, from.bytes());
    std::transform(raw.begin(), raw.end(), values.begin(), value_of);
  } else {
    std::vector<std::uint16_t> raw(values.size());
    rank_.device().download(raw.data(), from.data, from.bytes());
    for (std::size_t i = 0; i < raw.size(); ++i) values[i] = float_of_bf16(raw[i]);
  }
  return values;
}

/// The capacity allowed it, and yet the machine has no more: on a GPU that several ranks share, for example.
void* RankMemory::allocate_on_device(const NewStorage& made) {
  const Bytes asked = bytes_of(made.count, made.dtype);
  try {
    return made.memory == Memory::host ? rank_.device().allocate_host(asked) : rank_.device().allocate(asked);
  } catch (const std::bad_alloc&) {
    out_of_memory({rank_.id(), asked, made.kind, made.at, true}, made.memory);
  }
}

void RankMemory::out_of_memory(const Refused& refused, Memory memory) {
  if (make_storages_) make_storages_();
  throw OutOfMemory(out_of_memory_message(refused, ledger(memory), storages_).c_str(), refused.at);
}

void RankMemory::label_whole(const Operand& operand, Label label) {
  Storage* storage = storages_.find(operand.ref.storage, operand.ref.generation);
  if (storage && operand.size() == storage->count) storage->label = label;
}

void RankMemory::free(const Ref& ref, Location at) {
  Storage* storage = storages_.find(ref.storage, ref.generation);
  if (!storage) return;
  if (!storage->in_flight.empty()) {
    // The memory stays until the operation is over; that somebody would have freed it is the program's error.
    const InFlight& mark = storage->in_flight.front();
    storage->dropped = true;
    if (rank_.options().checks) {
      rank_.defer(Misuse::race,
                  fmt::format("race: rank {} dropped a tensor {} while {} of {} is still in flight with it.\n"
                              "Wait first, or hand it over: `…_async(t, …).keep(std::move(t))`.",
                              rank_.id(), origin(storage->at), mark.operation, to_text(mark.at)),
                  at.line != 0 ? at : mark.at);
    }
    return;
  }
  ledger(storage->memory).remove(storage->kind, storage->weight);
  note_curve(storage->memory);
  release(rank_.device(), *storage);
  storages_.erase(ref.storage);
}

void RankMemory::note_curve(Memory memory) {
  // What a program frees on its way out of a run that has failed says nothing about the run.
  if (rank_.trace().enabled() && !rank_.aborted()) {
    rank_.trace().memory(memory, rank_.now(), ledger(memory).live_by_kind());
  }
  if (memory == Memory::device) rank_.set_live(ledger(memory).live());
  rank_.calls().note_tensors(ledger(Memory::device).live() + ledger(Memory::host).live());
}

void RankMemory::write(Counters& counters) const {
  static_cast<MemoryUse&>(counters) = ledgers_[static_cast<std::size_t>(Memory::device)].use();
  counters.host = ledgers_[static_cast<std::size_t>(Memory::host)].use();
}

void RankMemory::restart(Location at) {
  for (Ledger& ledger : ledgers_) ledger.reset_peak(at);
  note_curve(Memory::device);
  note_curve(Memory::host);
}

}  // namespace shardlings::front
