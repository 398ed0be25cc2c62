#include "front/store/shared_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/dtype.h"
#include "base/pack.h"

namespace shardlings::front {
namespace {

constexpr int kNobodyWrote = -1;
constexpr Nanos kEver(std::numeric_limits<std::int64_t>::max());

std::string packed(const Content& content) {
  Packer out;
  out.put(content.dtype);
  out.put<std::int64_t>(content.count);
  out.put<std::uint8_t>(content.number ? 1 : 0);
  out.put<std::int64_t>(content.number.value_or(0));
  const std::size_t size = content.bytes ? content.bytes->size() : 0;
  out.text({size > 0 ? reinterpret_cast<const char*>(content.bytes->data()) : "", size});
  return out.take();
}

/// Throws BadPack for what a run has not kept whole.
Content content_in(const std::string& bytes) {
  Unpacker in(bytes);
  Content content;
  content.dtype = in.choice<DType>(kNumDTypes);
  content.count = in.get<std::int64_t>();
  const bool is_number = in.get<std::uint8_t>() != 0;
  const auto number = in.get<std::int64_t>();
  if (is_number) content.number = number;
  const std::string values = in.text();
  if (in.left() != 0 || content.count < 0) throw BadPack();
  if (is_number) return content;
  // A run that computes nothing keeps no elements, and they cannot be read in one that does.
  if (values.size() / static_cast<std::size_t>(size_of(content.dtype)) != static_cast<std::size_t>(content.count) ||
      values.size() % static_cast<std::size_t>(size_of(content.dtype)) != 0) {
    throw BadPack();
  }
  std::vector<std::byte> copied(values.size());
  if (!values.empty()) std::memcpy(copied.data(), values.data(), values.size());
  content.bytes = std::make_shared<const std::vector<std::byte>>(std::move(copied));
  return content;
}

}  // namespace

SharedStore::SharedStore(std::unique_ptr<back::Store> kept) : kept_(std::move(kept)) {
  if (!kept_) return;
  for (const back::KeptItem& item : kept_->load()) {
    try {
      give({item.folder, item.name}, content_in(item.bytes));
    } catch (const BadPack&) {
      throw std::runtime_error(fmt::format("the store: item {}/{} is damaged", item.folder, item.name));
    }
  }
}

void SharedStore::give(const ItemName& name, const Content& content) {
  const MutexLock guard(lock_);
  Stored stored{{name, content, {}, {}, {}, kNobodyWrote, {}}, true};
  folders_[name.folder][name.item] = std::make_shared<Stored>(std::move(stored));
}

void SharedStore::begin() {
  const MutexLock guard(lock_);
  if (std::exchange(begun_, true)) return;
  advance(kEver);
}

void SharedStore::write(const ItemWrite& write) {
  const MutexLock guard(lock_);
  auto stored = std::make_shared<Stored>(Stored{write, false});
  // From the next nanosecond on: whoever has been told what is there at `start` has been told for all of it.
  add(write.start + Nanos(1), {Happening::What::begin, stored, {}, write.rank, 0});
  if (!write.torn) add(write.end, {Happening::What::end, stored, {}, write.rank, 0});
  keep(write);
}

void SharedStore::rename(const FolderRename& rename) {
  const MutexLock guard(lock_);
  add(rename.end, {Happening::What::rename, nullptr, rename, rename.rank, 0});
  if (kept_) kept_->publish(rename.folder, rename.as);
}

// Nobody has looked at what lies beyond its death: this rank was there then, and could still do something earlier.
void SharedStore::bury(int rank, Nanos died) {
  const MutexLock guard(lock_);
  for (auto place = coming_.upper_bound(died); place != coming_.end(); ++place) {
    std::erase_if(place->second, [&](const Happening& happening) {
      if (happening.rank != rank) return false;
      if (happening.what == Happening::What::end) happening.stored->write.torn = died;
      return true;
    });
  }
}

ItemState SharedStore::look(Nanos time, const ItemName& name) {
  const MutexLock guard(lock_);
  advance(time);
  const auto folder = folders_.find(name.folder);
  if (folder == folders_.end()) return {};
  const auto item = folder->second.find(name.item);
  if (item == folder->second.end()) return {};
  const Stored& stored = *item->second;
  const ItemWrite& write = stored.write;
  return {stored.is_over ? ItemState::State::whole : ItemState::State::torn, write.content, write.rank, write.at,
          write.torn && *write.torn <= time};
}

bool SharedStore::has_folder(Nanos time, const std::string& folder) {
  const MutexLock guard(lock_);
  advance(time);
  return folders_.contains(folder);
}

std::optional<Failure> SharedStore::race() {
  const MutexLock guard(lock_);
  advance(kEver);
  return race_;
}

void SharedStore::add(Nanos time, Happening happening) {
  happening.number = numbers_[happening.rank]++;
  coming_[time].push_back(std::move(happening));
}

void SharedStore::advance(Nanos time) {
  while (!coming_.empty() && coming_.begin()->first <= time) {
    auto [now, all] = std::move(*coming_.begin());
    coming_.erase(coming_.begin());
    std::sort(all.begin(), all.end(), [](const Happening& a, const Happening& b) {
      return std::tuple(a.what, a.rank, a.number) < std::tuple(b.what, b.rank, b.number);
    });
    for (const Happening& happening : all) happen(happening);
  }
}

void SharedStore::happen(const Happening& happening) {
  switch (happening.what) {
    case Happening::What::end: happening.stored->is_over = true; break;
    case Happening::What::begin: {
      const ItemName& name = happening.stored->write.name;
      std::shared_ptr<Stored>& place = folders_[name.folder][name.item];
      if (place && !place->is_over && !place->write.torn) note_race(*place, *happening.stored);
      place = happening.stored;
      break;
    }
    case Happening::What::rename: {
      const auto folder = folders_.find(happening.rename.folder);
      if (folder == folders_.end()) break;
      Folder items = std::move(folder->second);
      folders_.erase(folder);
      folders_[happening.rename.as] = std::move(items);
      break;
    }
  }
}

void SharedStore::note_race(const Stored& older, const Stored& newer) {
  if (race_) return;
  const ItemWrite& write = newer.write;
  const std::string text = fmt::format(
      "race: two ranks write {} at the same time.\n  rank {} at {}, rank {} at {}\nEach item has one writer: put the "
      "rank's number into the item's name, or let the second one wait for the first.",
      text_of(write.name), older.write.rank, text_of(older.write.at), write.rank, text_of(write.at));
  race_ = Failure{FailureKind::race, write.rank, text, write.at.file, write.at.line, write.start};
}

// In the order of the calls of one rank, and of those that wait for one another: a program that is right cannot tell it
// from the order of virtual time.
void SharedStore::keep(const ItemWrite& write) {
  if (!kept_) return;
  if (write.torn) return kept_->remove(write.name.folder, write.name.item);
  kept_->put({write.name.folder, write.name.item, packed(write.content)});
}

}  // namespace shardlings::front
