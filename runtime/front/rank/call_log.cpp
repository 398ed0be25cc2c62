#include "front/rank/call_log.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "base/text.h"

namespace shardlings::front {

void CallLog::note(const char* name, Location at, Nanos now) {
  if (at.line == 0) return;
  if (depth_ == 0) keep(name, at);
  last_ = name;
  last_place_ = at;
  if (entry_ == nullptr) return;
  entry_->order = noted_;
  entry_->line = at.line;
  entry_->time = now.value();
  if (noted_verb_ != name) std::strncpy(entry_->verb, name, BlackBoxEntry::kText - 1);  // names are of the table
  noted_verb_ = name;
  if (noted_file_ == at.file) return;  // the same one in nearly every call
  noted_file_ = at.file;
  const auto file = base_name(at.file);
  std::memset(entry_->file, 0, sizeof entry_->file);
  std::memcpy(entry_->file, file.data(), std::min<std::size_t>(file.size(), BlackBoxEntry::kText - 1));
}

void CallLog::keep(const char* name, Location at) {
  const std::uint64_t number = noted_++;
  if (number < first_) return;
  if (latest_.empty()) latest_.resize(kLatest);
  latest_[number % kLatest] = {at, name};
}

void CallLog::note_tensors(Bytes alive) {
  if (entry_ != nullptr) entry_->tensors = std::max(entry_->tensors, alive.value());
}

std::vector<CallLog::Repeated> CallLog::latest() const {
  std::map<std::tuple<std::string, int, std::string>, Repeated> by_line;
  if (latest_.empty()) return {};
  for (std::uint64_t number = std::max(first_, noted_ - std::min<std::uint64_t>(noted_, kLatest)); number < noted_;
       ++number) {
    const auto& [at, name] = latest_[number % kLatest];
    Repeated& repeated = by_line[{at.file, at.line, name}];
    repeated = {at, name, repeated.times + 1};
  }
  std::vector<Repeated> all;
  for (const auto& [line, repeated] : by_line) all.push_back(repeated);
  std::stable_sort(all.begin(), all.end(), [](const Repeated& a, const Repeated& b) { return a.times > b.times; });
  return all;
}

void CallLog::forget() {
  noted_ = unplaced_ = 0;
  last_ = "";
  last_place_ = {};
  if (entry_ == nullptr) return;
  entry_->order = 0;
  entry_->line = 0;
  noted_verb_ = nullptr;
  entry_->verb[0] = '\0';
}

const char* CallLog::called(const detail::Call& call) const {
  return depth_ > 0 ? composite_ : name_of(call);
}

void CallLog::begin_composite(const detail::Call& call) {
  if (++depth_ == 1) composite_ = name_of(call);
}

}  // namespace shardlings::front
