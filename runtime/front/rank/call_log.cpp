#include "front/rank/call_log.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace shardlings::front {

void CallLog::note(const char* name, Location at, Nanos now) {
  if (at.line == 0) return;
  if (depth_ == 0) ++noted_;
  last_ = name;
  last_place_ = at;
  if (entry_ == nullptr) return;
  entry_->order = noted_;
  entry_->line = at.line;
  entry_->time = now.value();
  std::strncpy(entry_->verb, last_, BlackBoxEntry::kText - 1);
  if (noted_file_ == at.file) return;  // the same one in nearly every call
  noted_file_ = at.file;
  const auto file = base_name(at.file);
  std::memset(entry_->file, 0, sizeof entry_->file);
  std::memcpy(entry_->file, file.data(), std::min<std::size_t>(file.size(), BlackBoxEntry::kText - 1));
}

void CallLog::forget() {
  noted_ = 0;
  last_ = "";
  last_place_ = {};
  if (entry_ == nullptr) return;
  entry_->order = 0;
  entry_->line = 0;
  entry_->verb[0] = '\0';
}

const char* CallLog::called(const detail::Call& call) const {
  return depth_ > 0 ? composite_ : name_of(call);
}

void CallLog::begin_composite(const detail::Call& call) {
  if (++depth_ == 1) composite_ = name_of(call);
}

}  // namespace shardlings::front
