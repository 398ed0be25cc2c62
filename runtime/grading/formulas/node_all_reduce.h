/// \file
/// What an all-reduce costs on nodes whose ranks are joined by faster links than the nodes (puzzle 07).
///
/// N ranks on R nodes of k ranks; size is the bytes of all elements, of f32. A message of x bytes takes alpha + x / W
/// of its class of link (the alpha-beta model).
///
/// | way    | time                                                                                              |
/// |--------|---------------------------------------------------------------------------------------------------|
/// | tree   | 2 ceil(log2 k) messages of size inside, 2 ceil(log2 R) between: binomial trees, up and down        |
/// | levels | 2 (k-1) messages of size/k inside, 2 (R-1) of size/(k R) between: rings (Patarasuk and Yuan 2009)  |
#pragma once

#include <array>
#include <string>

#include "case/case.h"
#include "grading/judge/formula.h"

namespace shardlings::grading::formulas {

struct NodeAllReduce {
  explicit NodeAllReduce(const cases::Case& kase);

  int ranks;                                          ///< N
  int k;                                              ///< ranks of the largest node
  int nodes;                                          ///< R; the last one may be shorter
  std::array<front::LinkSpeed, front::kLinks> links;  ///< by front::Link

  int node_of(int rank) const { return rank / k; }
  /// Elements of the longest part of a node, and of the longest part of that between nodes.
  Count part(Count n) const;
  Count piece(Count n) const;
  judge::Formula<Count> num_ranks() const { return judge::named("N", Count(ranks)); }
  judge::Formula<Count> per_node() const { return judge::named("k", Count(k)); }
  judge::Formula<Count> num_nodes() const { return judge::named("R", Count(nodes)); }

  /// \name Times of n elements
  /// @{
  /// A message; `what` names its bytes.
  judge::Formula<Nanos> hop(const std::string& what, Count n, front::Link link) const;
  judge::Formula<Nanos> tree_time(Count n) const;
  judge::Formula<Nanos> levels_time(Count n) const;
  bool tree_is_faster(Count n) const { return tree_time(n).value() < levels_time(n).value(); }
  /// The bytes for which both take the same time, where parts come out even: both times are straight lines then.
  judge::Formula<Bytes> changeover() const;
  /// @}

  /// \name Bytes of n elements
  /// @{
  /// By levels, the most that a rank sends inside its node, and between nodes.
  judge::Formula<Bytes> sent_inside(Count n) const;
  judge::Formula<Bytes> sent_between(Count n) const;
  /// Either way, what all ranks send between nodes, and inside: 2 (R-1) and 2 (N-R) of what `all` are.
  judge::Formula<Bytes> all_between(const judge::Formula<Bytes>& all) const { return 2 * (num_nodes() - 1) * all; }
  judge::Formula<Bytes> all_inside(const judge::Formula<Bytes>& all) const {
    return 2 * (num_ranks() - num_nodes()) * all;
  }
  /// @}
};

/// ceil(log2 n): the rounds in which one of n ranks can hear of all others.
Count rounds_of_tree(int n);

}  // namespace shardlings::grading::formulas
