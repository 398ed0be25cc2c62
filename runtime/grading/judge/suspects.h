/// \file
/// One cause for what a check found on several cases, where no case tells its mistakes apart alone.
#pragma once

#include <string>
#include <vector>

namespace shardlings::grading::judge {

/// A mistake that would have led to what was found on a case.
struct Suspect {
  std::string which;         ///< tells it from others, and is the same on all cases
  std::string id;            ///< of the manifest's diagnoses; empty for one that has no sentence
  double chance = 1;         ///< how easily somebody with another mistake comes to the same on this case: in (0, 1]
  std::string covered_by{};  ///< an id whose sentence is true of this mistake as well
};

/// The id of what is suspected on all of the cases, if it is one and no chance. Several are one if they have the same
/// id, or are covered by that of another one of them. Empty if there is none.
std::string common_suspect(const std::vector<std::vector<Suspect>>& by_case);

}  // namespace shardlings::grading::judge
