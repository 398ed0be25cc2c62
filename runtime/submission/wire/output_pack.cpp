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
  const bool extents = published.rows >= 0 && published.rows <= kMost && published.cols >= 0 && published.cols <= kMost;
  if (!extents || !inside(published.row_range, published.rows) || !inside(published.col_range, published.cols)) {
    throw BadPack();
  }
  const Count size = published.row_range.size() * published.col_range.size();
  if (size != static_cast<Count>(published.values.size())) throw BadPack();
}

front::Published unpack_one(const std::vector<std::vector<front::Published>>& before, Unpacker& in) {
  front::Published published;
  published.name = in.text();
  published.rows = in.get<Count>();
  published.cols = in.get<Count>();
  published.row_range = unpack_range(in);
  published.col_range = unpack_range(in);
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

/// The pieces of one name, with the ranks that published them.
struct Piece {
  std::size_t rank = 0;
  const front::Published* published = nullptr;
  bool whole() const {
    const front::Published& p = *published;
    return p.row_range == Range{0, p.rows} && p.col_range == Range{0, p.cols};
  }
};

Output from_replicas(const std::vector<Piece>& pieces) {
  Output output;
  output.values = pieces.front().published->values;
  for (const Piece& piece : pieces) {
    if (output.conflict.empty() && !same_bits(piece.published->values, output.values)) {
      output.conflict = "rank " + std::to_string(piece.rank) + " ended with other values than rank " +
                        std::to_string(pieces.front().rank);
    }
  }
  if (output.conflict.empty()) return output;
  for (const Piece& piece : pieces) output.replicas.push_back(piece.published->values);
  return output;
}

/// Copies one rectangle into the whole; `owner` is 0 where nobody has been, else 1 + the rank that was.
void place(const Piece& piece, std::vector<std::uint32_t>& owner, Output& output) {
  const front::Published& p = *piece.published;
  std::size_t next = 0;
  for (Count row = p.row_range.begin; row < p.row_range.end; ++row) {
    for (Count col = p.col_range.begin; col < p.col_range.end; ++col, ++next) {
      const auto at = static_cast<std::size_t>(row * p.cols + col);
      const float value = p.values[next];
      if (owner[at] == 0) {
        output.values[at] = value;
        owner[at] = static_cast<std::uint32_t>(piece.rank + 1);
      } else if (output.conflict.empty() &&
                 std::bit_cast<std::uint32_t>(output.values[at]) != std::bit_cast<std::uint32_t>(value)) {
        output.conflict = "ranks " + std::to_string(owner[at] - 1) + " and " + std::to_string(piece.rank) +
                          " published different values of element (" + std::to_string(row) + ", " +
                          std::to_string(col) + ")";
      }
    }
  }
}

Output from_rectangles(const std::vector<Piece>& pieces) {
  Output output;
  const Count size = pieces.front().published->rows * pieces.front().published->cols;
  std::size_t published = 0;
  for (const Piece& piece : pieces) published += piece.published->values.size();
  if (static_cast<std::size_t>(size) > published) {  // never allocated: the extents are only a claim
    output.complete = false;
    return output;
  }
  output.values.resize(static_cast<std::size_t>(size));
  std::vector<std::uint32_t> owner(output.values.size(), 0);
  for (const Piece& piece : pieces) place(piece, owner, output);
  for (const std::uint32_t rank : owner) output.complete = output.complete && rank != 0;
  return output;
}

Output assemble_one(const std::vector<Piece>& pieces, std::size_t ranks) {
  const front::Published& first = *pieces.front().published;
  bool all_whole = true;
  for (const Piece& piece : pieces) {
    if (piece.published->rows != first.rows || piece.published->cols != first.cols) {
      Output output;
      output.complete = false;
      output.conflict = "ranks " + std::to_string(pieces.front().rank) + " and " + std::to_string(piece.rank) +
                        " published matrices of different sizes";
      return output;
    }
    all_whole = all_whole && piece.whole();
  }
  Output output = all_whole && pieces.size() == ranks ? from_replicas(pieces) : from_rectangles(pieces);
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
      for (const Count number : {published.rows, published.cols, published.row_range.begin, published.row_range.end,
                                 published.col_range.begin, published.col_range.end}) {
        out.put(number);
      }
      const std::uint32_t source = twin(ranks, rank, published);
      out.put(source);
      if (source != kOwnValues) continue;
      out.put<std::uint64_t>(published.values.size());
      out.block(published.values.data(), published.values.size() * sizeof(float));
    }
  }
}

std::vector<std::vector<front::Published>> unpack_outputs(std::size_t ranks, Unpacker& in) {
  constexpr std::size_t kLeastBytes = 8 + 6 * sizeof(Count) + 4;
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
  std::map<std::string, std::vector<Piece>> pieces;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    for (const front::Published& published : by_rank[rank]) pieces[published.name].push_back({rank, &published});
  }
  std::map<std::string, Output> outputs;
  for (const auto& [name, list] : pieces) outputs[name] = assemble_one(list, by_rank.size());
  return outputs;
}

}  // namespace shardlings::wire
