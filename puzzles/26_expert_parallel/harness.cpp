// Draws what the router says of this rank's tokens, asks the learner's function where they go, brings them into the
// order of the experts, calls the layer, and publishes what is judged.

#include "submission/harness.h"

#include <string>

#include "routing.h"

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(route,
                            std::vector<int>(const std::vector<float>& scores, int experts, int k, Count capacity));
SHARDLINGS_LEARNER_FUNCTION(expert_layer, void(Rank& rank, const ExpertShare& share));

namespace {

std::vector<int> routes_of(const ExpertSizes& sizes, int rank) {
  return route(scores_of(sizes, rank), sizes.experts, sizes.k, sizes.capacity(rank));
}

/// Why that can be no answer; empty if it can.
std::string fault_in(const std::vector<int>& routes, const ExpertSizes& sizes, int rank) {
  const Count tokens = sizes.tokens(rank);
  if (std::ssize(routes) != tokens * sizes.k) {
    return "route returns " + std::to_string(routes.size()) + " numbers; there are " + std::to_string(tokens) +
           " tokens with " + std::to_string(sizes.k) + " choices each";
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (routes[i] == kNobody || (routes[i] >= 0 && routes[i] < sizes.experts)) continue;
    return "route sends token " + std::to_string(i / static_cast<std::size_t>(sizes.k)) + " to expert " +
           std::to_string(routes[i]) + "; experts are 0 to " + std::to_string(sizes.experts - 1) +
           ", and kNobody is none of them";
  }
  return "";
}

/// What the learner says.
std::vector<int> asked_routes(const ExpertSizes& sizes, int rank) {
  std::vector<int> routes = routes_of(sizes, rank);
  const std::string fault = fault_in(routes, sizes, rank);
  if (!fault.empty()) throw InvalidArgument(fault.c_str(), detail::kNoPlace);
  return routes;
}

/// A simulation computes no numbers, but how many rows come in is known: rank by rank, by its experts, as the learner's
/// function sends them there.
std::vector<float> counts_to_read(const ExpertSizes& sizes, const Rank& rank, const Group& ep) {
  std::vector<float> counts;
  const int own = sizes.experts_of_rank();
  for (int r = 0; r < sizes.e; ++r) {
    const int source = rank.id() - ep.rank() + r;
    const std::vector<int> routes = routes_of(sizes, source);
    if (!fault_in(routes, sizes, source).empty()) break;  // that rank says so, and the run ends
    const std::vector<Count> of = counts_of(sizes.experts, rows_of(sizes, source, routes));
    for (int i = 0; i < own; ++i)
      counts.push_back(static_cast<float>(of[static_cast<std::size_t>(ep.rank() * own + i)]));
  }
  return counts;
}

/// The layer's tensors of this rank, and the views of them that the learner is given.
struct Layer {
  Tensor x, token, factor, y, grad_y, grad_x;
  std::vector<Tensor> weights, grads;
  ExpertShare share;
};

Layer make_layer(Harness& h, const ExpertSizes& sizes, const std::vector<int>& routes) {
  Rank& rank = h.rank();
  const int me = rank.id();
  Layer layer;
  ExpertShare& share = layer.share;
  share.ep = rank.world().split(me / sizes.e, me, "experts");
  share.replicas = rank.world().split(me % sizes.e, me, "replicas");
  const std::vector<RoutedRow> rows = rows_of(sizes, me, routes);
  std::vector<std::int32_t> tokens;
  std::vector<float> factors;
  for (const RoutedRow& row : rows) {
    tokens.push_back(row.token);
    factors.push_back(row.factor);
  }
  share.counts = counts_of(sizes.experts, rows);
  const Shape shape{sizes.tokens(me), sizes.hidden}, square{sizes.hidden, sizes.hidden};
  layer.x = h.normals(which(ExpertDrawn::x, me), shape, Kind::activation);
  layer.grad_y = h.normals(which(ExpertDrawn::grad_y, me), shape, Kind::activation);
  layer.y = rank.zeros(shape, Kind::activation);
  layer.grad_x = rank.zeros(shape, Kind::activation);
  layer.token = h.ids(tokens, Kind::other);
  layer.factor = h.tensor(factors, Kind::other);
  for (int i = 0; i < sizes.experts_of_rank(); ++i) {
    const int expert = share.ep.rank() * sizes.experts_of_rank() + i;
    layer.weights.push_back(h.normals(which(ExpertDrawn::weights, expert), square, Kind::parameter));
    layer.grads.push_back(rank.zeros(square, Kind::gradient));
  }
  share.x = layer.x;
  share.token = layer.token;
  share.factor = layer.factor;
  share.weights.assign(layer.weights.begin(), layer.weights.end());
  share.grads.assign(layer.grads.begin(), layer.grads.end());
  share.y = layer.y;
  share.grad_y = layer.grad_y;
  share.grad_x = layer.grad_x;
  return layer;
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const ExpertSizes sizes(h.kase());
  Rank& rank = h.rank();
  const std::vector<int> routes = asked_routes(sizes, rank.id());
  const Layer layer = make_layer(h, sizes, routes);
  if (!h.computes()) h.script_reads(counts_to_read(sizes, rank, layer.share.ep));
  h.begin();
  expert_layer(rank, layer.share);
  h.end();
  const Count first = sizes.first_token(rank.id()), all = sizes.first_token(sizes.ranks);
  const auto put = [&](const char* name, ConstView part, Count columns) {
    h.put(name, part, {all, columns, {{first, first + sizes.tokens(rank.id())}, {0, columns}}});
  };
  put("routes", h.tensor({routes.begin(), routes.end()}, Kind::other), sizes.k);
  put("y", layer.y, sizes.hidden);
  put("grad_x", layer.grad_x, sizes.hidden);
  Tensor grads = rank.empty({std::ssize(layer.grads), sizes.hidden * sizes.hidden}, Kind::other);
  for (Count i = 0; i < std::ssize(layer.grads); ++i) {
    copy(grads.rows_part({i, i + 1}), layer.grads[static_cast<std::size_t>(i)]);
  }
  h.put_of_rank("grads", grads);
}
