#include "grading/formulas/node_all_reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/parts.h"
#include "base/text.h"
#include "grading/formulas/training.h"

namespace shardlings::grading::formulas {
namespace {

using front::Link;
using judge::Formula;
using judge::named;

Bytes bytes_of_f32(Count elements) {
  return Bytes(elements * judge::kBytesOfF32);
}

/// Sent by a rank around a ring of so many, there and back: twice all parts but one.
Formula<Bytes> sent_around(const Formula<Count>& ranks, const std::string& name, Count n) {
  const auto members = static_cast<int>(ranks.value());
  const Formula<Bytes> all = named(name, bytes_of_f32(n));
  const Bytes shortest = bytes_of_f32(part_of(n, members, members - 1).size());
  return simplest(2 * share_of_others(ranks) * all, 2 * (all - named("shortest part of it", shortest)));
}

}  // namespace

Count rounds_of_tree(int n) {
  return std::bit_width(static_cast<unsigned>(n - 1));
}

NodeAllReduce::NodeAllReduce(const cases::Case& kase)
    : ranks(kase.ranks),
      k(std::min(kase.cluster.ranks_per_node, kase.ranks)),
      nodes((kase.ranks + k - 1) / k),
      links{kase.cluster.links[0], kase.cluster.links[1]} {}

Count NodeAllReduce::part(Count n) const {
  return part_of(n, k, 0).size();
}

Count NodeAllReduce::piece(Count n) const {
  return part_of(part(n), nodes, 0).size();
}

Formula<Nanos> NodeAllReduce::hop(const std::string& what, Count n, Link link) const {
  const front::LinkSpeed& speed = links[static_cast<std::size_t>(link)];
  const std::string where = link == Link::intra_node ? "inside" : "between";
  const auto bytes = static_cast<double>(bytes_of_f32(n).value());
  const Nanos transfer(std::llround(bytes / speed.bytes_per_second * 1e9));
  return named("alpha " + where, speed.latency) + named(what + " / W " + where, transfer);
}

Formula<Nanos> NodeAllReduce::tree_time(Count n) const {
  return 2 * (named("rounds inside", rounds_of_tree(k)) * hop("size", n, Link::intra_node) +
              named("rounds between", rounds_of_tree(nodes)) * hop("size", n, Link::inter_node));
}

Formula<Nanos> NodeAllReduce::levels_time(Count n) const {
  return 2 * (per_node() - 1) * hop("part", part(n), Link::intra_node) +
         2 * (num_nodes() - 1) * hop("part/R", piece(n), Link::inter_node);
}

Formula<Bytes> NodeAllReduce::changeover() const {
  const Count far = Count{1000} * ranks;  // parts of it come out even
  const auto bytes = static_cast<double>(bytes_of_f32(far).value());
  const Nanos levels = levels_time(0).value(), tree = tree_time(0).value();  // latencies alone
  const auto for_a_byte = [&](Nanos time, Nanos latencies) {
    return static_cast<double>((time - latencies).value()) / bytes;
  };
  const double by_tree = for_a_byte(tree_time(far).value(), tree);
  const double by_levels = for_a_byte(levels_time(far).value(), levels);
  return named(fmt::format("(latencies by levels - of the tree) / (time of a byte by the tree - by levels) = "
                           "({} - {}) / ({:.4g} ns - {:.4g} ns)",
                           to_text(levels), to_text(tree), by_tree, by_levels),
               Bytes(std::llround(static_cast<double>((levels - tree).value()) / (by_tree - by_levels))));
}

Formula<Bytes> NodeAllReduce::sent_inside(Count n) const {
  return sent_around(per_node(), "size", n);
}

Formula<Bytes> NodeAllReduce::sent_between(Count n) const {
  return sent_around(num_nodes(), "part", part(n));
}

}  // namespace shardlings::grading::formulas
