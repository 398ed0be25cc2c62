#include "support/on_rank.h"

#include <gtest/gtest.h>

#include "api/access.h"

namespace shardlings::support {

/// The friend of the doors: from a rank's port back to its front.
struct Inside {
  static front::RankFront& front_behind(detail::Port& port) {
    return static_cast<front::Doors::Harness*>(port.harness())->doors_.front_;
  }
};

front::RunReport on_rank(const world::Options& options, const std::function<void(Rank&)>& body) {
  front::RunReport report = world::run(options, body);
  if (report.failure) ADD_FAILURE() << report.failure->message;
  return report;
}

std::string error_on_rank(const world::Options& options, const std::function<void(Rank&)>& body) {
  const front::RunReport report = world::run(options, body);
  return report.failure ? report.failure->message : "";
}

front::RankFront& front_of(Rank& rank) {
  return Inside::front_behind(*detail::Access::port(rank));
}

}  // namespace shardlings::support
