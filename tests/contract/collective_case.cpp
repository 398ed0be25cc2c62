#include "contract/collective_case.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/dtype.h"
#include "base/parts.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using support::load;
using support::publish;

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::i32, DType::e4m3, DType::e8m0};
constexpr ReduceOp kOps[] = {ReduceOp::sum, ReduceOp::mean, ReduceOp::max, ReduceOp::min};

bool reduces(Collective kind) {
  return kind == Collective::all_reduce || kind == Collective::reduce_scatter || kind == Collective::reduce;
}
/// Codes of 8 bits cannot be combined, and of scales there is only the largest.
bool can_be(Collective kind, DType dtype, ReduceOp op) {
  if (!reduces(kind)) return op == ReduceOp::sum;  // the operator does not matter: once is enough
  return !is_one_byte(dtype) || (dtype == DType::e8m0 && op == ReduceOp::max);
}
bool has_root(Collective kind) {
  return kind == Collective::broadcast || kind == Collective::reduce || kind == Collective::gather ||
         kind == Collective::scatter;
}
bool may_be_apart(Collective kind) {
  return kind == Collective::reduce_scatter || kind == Collective::all_gather || kind == Collective::gather ||
         kind == Collective::scatter;
}

/// A float in (-8, 8) with all its bits in use, from a hash (Steele et al. 2014, SplitMix64).
float value_at(int r, Count i) {
  std::uint64_t z = (static_cast<std::uint64_t>(r) << 40U) + static_cast<std::uint64_t>(i) + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  z ^= z >> 31U;
  return static_cast<float>(static_cast<double>(z >> 40U) / double{1 << 20U} - 8);
}

std::vector<float> slice(const std::vector<float>& values, Range range) {
  return {values.begin() + range.begin, values.begin() + range.end};
}

void append(std::vector<float>& to, const std::vector<float>& values) {
  to.insert(to.end(), values.begin(), values.end());
}

/// Everybody's own part, in the order of the ranks.
std::vector<float> joined_parts(const CollectiveCase& c, const std::vector<std::vector<float>>& inputs) {
  std::vector<float> joined;
  const int members = static_cast<int>(inputs.size());
  for (int r = 0; r < members; ++r)
    append(joined, slice(inputs[static_cast<std::size_t>(r)], part_of(c.count, members, r)));
  return joined;
}

/// The whole input of a member, before it is cut to what the member puts in.
std::vector<float> whole_of(const CollectiveCase& c, int r) {
  const float scale = c.dtype == DType::i32 ? 100.0F : 1.0F;
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(c.count));
  for (Count i = 0; i < c.count; ++i) values.push_back(support::round_to(c.dtype, scale * value_at(r, i)));
  return values;
}

float combined_pair(float a, float b, ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean: return a + b;
    case ReduceOp::max: return std::max(a, b);
    case ReduceOp::min: return std::min(a, b);
  }
  return 0;
}

struct Views {
  Tensor whole;  ///< of `count` elements
  Tensor apart;  ///< the smaller side, if it has memory of its own
  View in, out;
};

/// reduce_scatter and scatter take the whole in, all_gather and gather put it out; the other side is the rank's part.
Views make_views(Rank& rank, const CollectiveCase& c, const std::vector<float>& input, int members, int r) {
  const bool whole_in = c.kind == Collective::reduce_scatter || c.kind == Collective::scatter;
  const bool has_whole = !has_root(c.kind) || r == c.root;
  const Range mine = part_of(c.count, members, r);
  Views v;
  if (has_whole) v.whole = whole_in ? load(rank, input, c.dtype) : rank.zeros(c.count, Kind::other, c.dtype);
  if (!has_whole || !c.in_place) {
    v.apart = whole_in ? rank.zeros(mine.size(), Kind::other, c.dtype) : load(rank, input, c.dtype);
  }
  View part = v.apart ? View(v.apart) : v.whole.part(mine);
  if (!whole_in && has_whole && c.in_place) copy(part, load(rank, input, c.dtype));
  v.in = whole_in ? View(v.whole) : part;
  v.out = whole_in ? part : View(v.whole);
  return v;
}

void call_with_two_views(Group& group, const CollectiveCase& c, const Views& v) {
  switch (c.kind) {
    case Collective::reduce_scatter: group.reduce_scatter(v.in, v.out, c.reduce); break;
    case Collective::all_gather: group.all_gather(v.in, v.out); break;
    case Collective::gather: group.gather(v.in, v.out, c.root); break;
    default: group.scatter(v.in, v.out, c.root); break;
  }
}

void call_with_one_view(Group& group, const CollectiveCase& c, View data) {
  switch (c.kind) {
    case Collective::all_reduce: group.all_reduce(data, c.reduce); break;
    case Collective::broadcast: group.broadcast(data, c.root); break;
    default: group.reduce(data, c.reduce, c.root); break;
  }
}

}  // namespace

std::string CollectiveCase::name() const {
  return fmt::format("{} of {} {}{}{}{}", back::name_of(kind), count, shardlings::name_of(dtype),
                     reduces(kind) ? fmt::format(", {}", shardlings::name_of(reduce)) : "",
                     has_root(kind) ? fmt::format(", root {}", root) : "",
                     may_be_apart(kind) ? (in_place ? ", in place" : ", apart") : "");
}

std::vector<CollectiveCase> all_cases(const std::vector<Count>& counts, int members) {
  std::vector<CollectiveCase> cases;
  for (const Collective kind :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather, Collective::broadcast,
        Collective::reduce, Collective::gather, Collective::scatter, Collective::all_to_all}) {
    for (const DType dtype : kTypes) {
      for (const ReduceOp op : kOps) {
        if (!can_be(kind, dtype, op)) continue;
        for (const Count count : counts) {
          for (const int root : {0, members - 1}) {
            if (root > 0 && !has_root(kind)) continue;
            cases.push_back({kind, dtype, op, count, root, true});
            if (may_be_apart(kind)) cases.push_back({kind, dtype, op, count, root, false});
            if (members == 1) break;
          }
        }
      }
    }
  }
  return cases;
}

std::vector<CollectiveCase> few_cases(Count count, int members) {
  std::vector<CollectiveCase> cases;
  for (const CollectiveCase& c : all_cases({count}, members)) {
    if (is_one_byte(c.dtype)) continue;
    const bool telling = c.dtype == DType::f32 ? c.reduce == ReduceOp::sum : c.reduce == ReduceOp::mean;
    if (telling && c.dtype != DType::i32 && c.root == 0) cases.push_back(c);
  }
  return cases;
}

std::vector<float> input_of(const CollectiveCase& c, int members, int r) {
  const bool gives_part = c.kind == Collective::all_gather || c.kind == Collective::gather;
  const std::vector<float> whole = whole_of(c, r);
  return gives_part ? slice(whole, part_of(c.count, members, r)) : whole;
}

std::vector<float> combined(const std::vector<std::vector<float>>& inputs, ReduceOp op, DType dtype) {
  std::vector<float> result = inputs.front();
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (std::size_t r = 1; r < inputs.size(); ++r) result[i] = combined_pair(result[i], inputs[r][i], op);
    if (op == ReduceOp::mean) result[i] /= static_cast<float>(inputs.size());
    result[i] = support::round_to(dtype, result[i]);
  }
  return result;
}

std::vector<std::vector<float>> expected_of(const CollectiveCase& c, int members) {
  std::vector<std::vector<float>> inputs;
  for (int r = 0; r < members; ++r) inputs.push_back(whole_of(c, r));
  const auto root = static_cast<std::size_t>(c.root);
  std::vector<std::vector<float>> outputs(inputs.size());
  std::vector<float> sum;
  if (reduces(c.kind)) sum = combined(inputs, c.reduce, c.dtype);
  for (int r = 0; r < members; ++r) {
    const Range mine = part_of(c.count, members, r);
    std::vector<float>& output = outputs[static_cast<std::size_t>(r)];
    switch (c.kind) {
      case Collective::all_reduce: output = sum; break;
      case Collective::reduce: output = r == c.root ? sum : inputs[static_cast<std::size_t>(r)]; break;
      case Collective::reduce_scatter: output = slice(sum, mine); break;
      case Collective::broadcast: output = inputs[root]; break;
      case Collective::scatter: output = slice(inputs[root], mine); break;
      case Collective::gather:
        if (r == c.root) output = joined_parts(c, inputs);
        break;
      case Collective::all_gather: output = joined_parts(c, inputs); break;
      default:
        for (const auto& input : inputs) append(output, slice(input, mine));
        break;
    }
  }
  return outputs;
}

void run_case(Rank& rank, Group& group, const CollectiveCase& c, const std::string& name) {
  const int members = group.size();
  const std::vector<float> input = input_of(c, members, group.rank());
  if (c.kind == Collective::all_to_all) {
    Tensor in = load(rank, input, c.dtype);
    Tensor out = rank.empty(members * group.mine(c.count).size(), Kind::other, c.dtype);
    group.all_to_all(in, out);
    publish(rank, name, out);
  } else if (may_be_apart(c.kind)) {
    const Views views = make_views(rank, c, input, members, group.rank());
    call_with_two_views(group, c, views);
    if (views.out) publish(rank, name, views.out);
  } else {
    Tensor data = load(rank, input, c.dtype);
    call_with_one_view(group, c, data);
    publish(rank, name, data);
  }
}

}  // namespace shardlings::contract
