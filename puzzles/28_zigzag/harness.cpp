// Asks which pieces each rank has, gives it their queries, keys and values, calls the learner's forward pass, and
// publishes what is judged.

#include <limits>

#include "submission/harness.h"

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(pieces_of, std::vector<int>(int rank, int ranks));
SHARDLINGS_LEARNER_FUNCTION(targets_of,
                            std::vector<int>(Range piece, Count sequence, const std::vector<Count>& documents));
SHARDLINGS_LEARNER_FUNCTION(zigzag_forward,
                            void(Rank& rank, const AttentionShare& share, const std::vector<Count>& documents));

namespace {

/// Which of the case's tensors is which: grader.cpp draws the same ones.
enum Drawn : int { kQueries, kKeys, kValues };

[[noreturn]] void refuse(const std::string& message) {
  throw InvalidArgument(message.c_str(), detail::kNoPlace);
}

/// Every rank's pieces, if each piece has one rank.
std::vector<std::vector<int>> dealt(int ranks) {
  std::vector<std::vector<int>> pieces;
  std::vector<int> owners(2 * static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    pieces.push_back(pieces_of(rank, ranks));
    const std::string call = "pieces_of(" + std::to_string(rank) + ", " + std::to_string(ranks) + ")";
    if (pieces.back().size() != 2) {
      refuse(call + " returns " + std::to_string(pieces.back().size()) + " pieces; each rank has two");
    }
    for (const int piece : pieces.back()) {
      if (piece < 0 || piece >= 2 * ranks) {
        refuse(call + " returns piece " + std::to_string(piece) + "; pieces are 0 to " + std::to_string(2 * ranks - 1));
      }
      if (++owners[static_cast<std::size_t>(piece)] > 1) {
        refuse(call + " returns piece " + std::to_string(piece) + ", which a rank has already");
      }
    }
    if (pieces.back()[0] > pieces.back()[1]) refuse(call + " returns the greater piece first");
  }
  return pieces;
}

/// Where each document begins: the case says how many there are.
std::vector<Count> documents_of(const Harness& h) {
  std::vector<Count> begins{0};
  for (Count i = 1; i < h.integer("documents"); ++i) begins.push_back(h.integer("document_" + std::to_string(i)));
  return begins;
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  Rank& rank = h.rank();
  const model::ModelSpec& model = h.kase().model;
  const Count sequence = model.sequence, b = h.kase().batch, width = model.hidden;
  const Count key_width = width / model.heads * h.integer("kv_heads"), length = sequence / (2 * rank.size());
  const std::vector<Count> documents = documents_of(h);
  const std::vector<int> mine = dealt(rank.size())[static_cast<std::size_t>(rank.id())];
  Tensor q = rank.empty({2 * length, b, width}, Kind::activation);
  Tensor kv = rank.empty({4 * length, b, key_width}, Kind::activation);
  Tensor y = rank.zeros(q.shape(), Kind::activation), lse = rank.empty({2 * length, b, model.heads}, Kind::activation);
  fill(lse, -std::numeric_limits<float>::infinity());
  const auto copied = [&](View to, Count row, Drawn which, Count columns, Range positions) {
    copy(to.rows_part({row, row + length}), h.normals(which, {sequence, b, columns}, positions, Kind::other));
  };
  std::vector<float> targets;
  for (Count i = 0; i < 2; ++i) {
    const Count begin = mine[static_cast<std::size_t>(i)] * length;
    const Range positions{begin, begin + length};
    copied(q, i * length, kQueries, width, positions);
    copied(kv, 2 * i * length, kKeys, key_width, positions);
    copied(kv, (2 * i + 1) * length, kValues, key_width, positions);
    const std::vector<int> of_piece = targets_of(positions, sequence, documents);
    if (static_cast<Count>(of_piece.size()) != length) {
      refuse("targets_of returns " + std::to_string(of_piece.size()) + " targets for a piece of " +
             std::to_string(length) + " positions");
    }
    targets.insert(targets.end(), of_piece.begin(), of_piece.end());
  }
  h.begin();
  zigzag_forward(rank, {sequence, q, kv, y, lse}, documents);
  h.end();
  const Tensor aims = h.tensor(targets, Kind::other);
  for (Count i = 0; i < 2; ++i) {
    const Count begin = mine[static_cast<std::size_t>(i)] * length;
    const auto put = [&](const char* name, ConstView whole, Count columns, Count per) {
      const Range rows{begin * per, (begin + length) * per};
      h.put(name, whole.part({i * length * per * columns, (i + 1) * length * per * columns}),
            {sequence * per, columns, {rows, {0, columns}}});
    };
    put("y", y, width, b);
    put("lse", lse, model.heads, b);
    put("targets", aims, 1, 1);
  }
  h.put_of_rank("pieces", h.tensor({mine.begin(), mine.end()}, Kind::other));
}
