#include "front/rank/call_log.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "base/text.h"

namespace shardlings::front {

bool CallLog::is_in_harness(const char* file) {
  if (file == asked_file_) return asked_is_harness_;  // the same one in nearly every call
  asked_file_ = file;
  const auto base = base_name(file);
  asked_is_harness_ = base == "harness.cpp" || base.ends_with(".h");  // what stands beside a harness is in headers
  return asked_is_harness_;
}

void CallLog::note(const char* name, Location at, Nanos now) {
  if (at.line == 0) return;
  if (depth_ == 0) keep(name, at);
  const bool in_harness = is_in_harness(at.file);
  if (entry_ != nullptr) {
    entry_->order = noted_;
    entry_->time = now.value();
    entry_->in_harness = in_harness;
  }
  if (in_harness) return;
  last_ = name;
  last_place_ = at;
  if (entry_ == nullptr) return;
  entry_->line = at.line;
  if (noted_verb_ != name) std::strncpy(entry_->verb, name, BlackBoxEntry::kText - 1);  // names are of the table
  noted_verb_ = name;
  if (noted_file_ == at.file) return;
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

void CallLog::note_part(RunPart part) {
  if (entry_ != nullptr) entry_->part = static_cast<std::uint32_t>(part);
}

void CallLog::end_run() {
  note_part(RunPart::behind);
}

void CallLog::begin_run() {
  note_part(RunPart::measured);
  noted_ = unplaced_ = 0;
  last_ = "";
  last_place_ = {};
  if (entry_ == nullptr) return;
  entry_->order = 0;
  entry_->line = 0;
  entry_->in_harness = false;
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
