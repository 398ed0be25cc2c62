#include "submission/wire/output_pack.h"

#include <bit>

namespace shardlings::wire {
namespace {

constexpr std::uint32_t kOwnValues = 0xFFFFFFFF;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

const front::Published* find(const front::RankReport& report, const front::Published& like) {
  for (const front::Published& candidate : report.published) {
    if (candidate.name == like.name) return same_bits(candidate.values, like.values) ? &candidate : nullptr;
  }
  return nullptr;
}

/// The first rank that published the same numbers under the same name, before `rank`.
std::uint32_t twin(const std::vector<front::RankReport>& ranks, std::size_t rank, const front::Published& published) {
  for (std::size_t other = 0; other < rank; ++other) {
    if (find(ranks[other], published)) return static_cast<std::uint32_t>(other);
  }
  return kOwnValues;
}

const std::vector<float>& values_of_twin(const std::vector<front::Published>& published, const std::string& name) {
  for (const front::Published& candidate : published) {
    if (candidate.name == name) return candidate.values;
  }
  throw BadPack();
}

Range unpack_range(Unpacker& in) {
  const auto begin = in.get<Count>();
  return {begin, in.get<Count>()};
}

bool inside(Range range, Count extent) {
  return range.begin >= 0 && range.begin <= range.end && range.end <= extent;
}

/// The rectangle lies in the whole and has as many elements as there are values. (Extents are at most 2^31, so that
/// products fit.)
void validate(const front::Published& published) {
  constexpr Count kMost = Count{1} << 31;
  const auto& [rows, cols, part] = published.place;
  const bool extents = rows >= 0 && rows <= kMost && cols >= 0 && cols <= kMost;
  if (!extents || !inside(part.rows, rows) || !inside(part.cols, cols)) throw BadPack();
  if (published.place.size() != static_cast<Count>(published.values.size())) throw BadPack();
  if (published.missing && (rows != 0 || cols != 0)) throw BadPack();
}

front::Published unpack_one(const std::vector<std::vector<front::Published>>& before, Unpacker& in) {
  front::Published published;
  published.name = in.text();
  published.place.rows = in.get<Count>();
  published.place.cols = in.get<Count>();
  published.place.part.rows = unpack_range(in);
  published.place.part.cols = unpack_range(in);
  published.missing = in.get<std::uint8_t>() != 0;
  const auto source = in.get<std::uint32_t>();
  if (source == kOwnValues) {
    published.values.resize(in.count(sizeof(float)));
    in.block(published.values.data(), published.values.size() * sizeof(float));
  } else {
    if (source >= before.size()) throw BadPack();
    published.values = values_of_twin(before[source], published.name);
  }
  validate(published);
  return published;
}

/// What one rank published under a name.
struct Contribution {
  std::size_t rank = 0;
  const front::Published* published = nullptr;
};

Output from_replicas(const std::vector<Contribution>& contributions) {
  Output output;
  output.values = contributions.front().published->values;
  for (const Contribution& contribution : contributions) {
    if (output.conflict.empty() && !same_bits(contribution.published->values, output.values)) {
      output.conflict = "rank " + std::to_string(contribution.rank) + " ended with other values than rank " +
                        std::to_string(contributions.front().rank);
    }
  }
  if (output.conflict.empty()) return output;
  for (const Contribution& contribution : contributions) output.replicas.push_back(contribution.published->values);
  return output;
}

/// Copies one rectangle into the whole; `owner` is 0 where nobody has been, else 1 + the rank that was.
void copy_into_whole(const Contribution& contribution, std::vector<std::uint32_t>& owner, Output& output) {
  const auto& [rows, cols, part] = contribution.published->place;
  std::size_t next = 0;
  for (Count row = part.rows.begin; row < part.rows.end; ++row) {
    for (Count col = part.cols.begin; col < part.cols.end; ++col, ++next) {
      const auto at = static_cast<std::size_t>(row * cols + col);
      const float value = contribution.published->values[next];
      if (owner[at] == 0) {
        output.values[at] = value;
        owner[at] = static_cast<std::uint32_t>(contribution.rank + 1);
      } else if (output.conflict.empty() &&
                 std::bit_cast<std::uint32_t>(output.values[at]) != std::bit_cast<std::uint32_t>(value)) {
        output.conflict = "ranks " + std::to_string(owner[at] - 1) + " and " + std::to_string(contribution.rank) +
                          " have different values of element (" + std::to_string(row) + ", " +
                          std::to_string(col) + ")";
      }
    }
  }
}

Output from_rectangles(const std::vector<Contribution>& contributions) {
  Output output;
  const MatrixPart& place = contributions.front().published->place;
  const Count size = place.rows * place.cols;
  std::size_t published = 0;
  for (const Contribution& contribution : contributions) published += contribution.published->values.size();
  if (static_cast<std::size_t>(size) > published) {  // never allocated: the extents are only a claim
    output.complete = false;
    return output;
  }
  output.values.resize(static_cast<std::size_t>(size));
  std::vector<std::uint32_t> owner(output.values.size(), 0);
  for (const Contribution& contribution : contributions) copy_into_whole(contribution, owner, output);
  for (const std::uint32_t rank : owner) output.complete = output.complete && rank != 0;
  return output;
}

Output assemble_one(const std::vector<Contribution>& contributions, std::size_t ranks) {
  const MatrixPart& first = contributions.front().published->place;
  bool all_whole = true;
  for (const Contribution& contribution : contributions) {
    const MatrixPart& place = contribution.published->place;
    if (place.rows != first.rows || place.cols != first.cols) {
      Output output;
      output.complete = false;
      output.conflict = "ranks " + std::to_string(contributions.front().rank) + " and " +
                        std::to_string(contribution.rank) + " published matrices of different sizes";
      return output;
    }
    all_whole = all_whole && place.is_whole();
  }
  Output output =
      all_whole && contributions.size() == ranks ? from_replicas(contributions) : from_rectangles(contributions);
  output.rows = first.rows;
  output.cols = first.cols;
  return output;
}

}  // namespace

void pack_outputs(const std::vector<front::RankReport>& ranks, Packer& out) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    out.put<std::uint64_t>(ranks[rank].published.size());
    for (const front::Published& published : ranks[rank].published) {
      out.text(published.name);
      const auto& [rows, cols, part] = published.place;
      for (const Count number : {rows, cols, part.rows.begin, part.rows.end, part.cols.begin, part.cols.end}) {
        out.put(number);
      }
      const std::uint32_t source = twin(ranks, rank, published);
      out.put<std::uint8_t>(published.missing ? 1 : 0);
      out.put(source);
      if (source != kOwnValues) continue;
      out.put<std::uint64_t>(published.values.size());
      out.block(published.values.data(), published.values.size() * sizeof(float));
    }
  }
}

std::vector<std::vector<front::Published>> unpack_outputs(std::size_t ranks, Unpacker& in) {
  constexpr std::size_t kLeastBytes = 8 + 6 * sizeof(Count) + 1 + 4;
  constexpr std::size_t kMostElements = std::size_t{1} << 28U;  // references to twins multiply what is in the file
  std::vector<std::vector<front::Published>> by_rank;
  std::size_t elements = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<front::Published> published;
    for (std::size_t n = in.count(kLeastBytes); n > 0; --n) {
      published.push_back(unpack_one(by_rank, in));
      elements += published.back().values.size();
      if (elements > kMostElements) throw BadPack();
    }
    by_rank.push_back(std::move(published));
  }
  return by_rank;
}

std::map<std::string, Output> assemble(const std::vector<std::vector<front::Published>>& by_rank) {
  std::map<std::string, std::vector<Contribution>> contributions;
  std::map<std::string, std::size_t> missing;  // the first rank that should have published something
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    for (const front::Published& published : by_rank[rank]) {
      if (published.missing) {
        missing.emplace(published.name, rank);
      } else {
        contributions[published.name].push_back({rank, &published});
      }
    }
  }
  std::map<std::string, Output> outputs;
  for (const auto& [name, list] : contributions) {
    Output& output = outputs[name] = assemble_one(list, by_rank.size());
    const auto lacks = missing.find(name);
    if (lacks == missing.end()) continue;
    output.complete = false;
    output.replicas.clear();  // what the others agree on is not what all of them hold
    output.conflict = "nothing on rank " + std::to_string(lacks->second) + ": its tensor is empty";
  }
  return outputs;
}

}  // namespace shardlings::wire
