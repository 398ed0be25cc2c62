#include "front/rank/doom.h"

#include <algorithm>

namespace shardlings::front {

Doom::Doom(const std::vector<Death>& deaths, int rank) {
  const auto found = std::find_if(deaths.begin(), deaths.end(), [&](const Death& death) { return death.rank == rank; });
  if (found != deaths.end()) death_ = *found;
}

bool Doom::strikes(Nanos now, bool counts) {
  if (has_come(now)) return true;
  if (counts && ++calls_ == death_->call) died_ = now;
  return died_.has_value();
}

bool Doom::has_come(Nanos now) {
  if (!died_ && measuring_ && death_->at && now >= *death_->at) died_ = death_->at;
  return died_.has_value();
}

// What the rank has called until now was called by a rank that lives.
void Doom::note_write(Nanos start, Nanos end, Nanos now) {
  if (!death_ || !measuring_ || ++writes_ != death_->write) return;
  death_->at = std::max(now, start + Nanos((end - start).value() / 2));
}

}  // namespace shardlings::front
