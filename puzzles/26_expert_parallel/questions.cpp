// What is asked after the pass about experts that some tokens like better.

#include <numeric>

#include "experts.h"
#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

namespace {

/// Rows that arrive on each rank of the first ep group.
std::vector<Count> arrivals(const ExpertSizes& sizes, const RoutingRule& rule) {
  std::vector<Count> rows(static_cast<std::size_t>(sizes.e));
  for (int rank = 0; rank < sizes.e; ++rank) {
    for (const RoutedRow& row : rows_of(sizes, rank, right_routes(sizes, rank, rule))) {
      ++rows[static_cast<std::size_t>(row.expert / sizes.experts_of_rank())];
    }
  }
  return rows;
}

}  // namespace

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const ExpertSizes sizes(predict.kase());
  const std::vector<Count> kept = arrivals(sizes, {}), all = arrivals(sizes, {.drops = false});
  const auto most = [](const std::vector<Count>& rows) { return *std::max_element(rows.begin(), rows.end()); };
  const Count mean = std::accumulate(all.begin(), all.end(), Count{0}) / sizes.e;
  predict.answer(1)
      .count("fullest", "How many rows arrive on the fullest rank?", named("fullest rank", most(kept)), "rows")
      .unlike(sizes.e * sizes.experts_of_rank() * sizes.capacity(0),
              "So many could arrive, if each rank filled both experts. Expert 1 is not liked as well as expert 0.");
  predict.count("undropped", "And how many if nothing were dropped?", named("fullest rank", most(all)), "rows")
      .unlike(mean, "That is the mean of all ranks.");
}
