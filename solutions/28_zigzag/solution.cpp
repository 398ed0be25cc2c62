// Puzzle 28: attention over divided sequences in which all ranks have as much to do.
//
// The ring is that of puzzle 27. Which positions a rank has decides how much its queries see, step by step.
// The lesson is README.md beside this file; `./shardlings explain 28` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

/// Causal attention of sequences that are cut into 2 c pieces, two of which are on each of the c ranks. A sequence has
/// several documents, one behind the other.
///
/// sequence   positions of all ranks together; 2 c divides it, and n = sequence / c
/// documents  the position at which each document begins, in ascending order; the first one is 0
/// q          (n, b, h)      queries of the rank's first piece and, below them, of its second one
/// kv         (2 n, b, u)    keys of the first piece, below them their values; then those of the second piece
/// y, lse     (n, b, h), (n, b, heads)  in the order of q; zeros and -infinity at first: the attention over no key
///
/// Deal     pieces_of: the numbers of a rank's two pieces, the smaller one first. Every piece is on one rank
/// Result   attend: y and lse with the keys of rank `owner` added to those that they are over. A query sees the keys at
///          its own position and before it, in its own document
/// Targets  targets_of: for each position of `piece` the position of the token that it has to predict: the next one of
///          its document; -1 where there is none
/// Balance  with one document the rank that has most to do has at most 1/0.95 of the mean
/// Time     the run ends as soon as the ranks have computed what there is, in steps of which each is as long as that of
///          the rank that has most to do in it

/// Positions of piece `i`.
Range piece_at(Count sequence, int ranks, int i) {
  const Count length = sequence / (2 * ranks);
  return {i * length, (i + 1) * length};
}

// >>> your code (about 32 lines)
std::vector<int> pieces_of(int rank, int ranks) {
  return {rank, 2 * ranks - 1 - rank};  // what the one sees less, the other sees more
}

std::vector<int> targets_of(Range piece, Count sequence, const std::vector<Count>& documents) {
  std::vector<int> targets;
  for (Count position = piece.begin; position < piece.end; ++position) {
    const Count next = position + 1;
    const bool ends = next == sequence || std::binary_search(documents.begin(), documents.end(), next);
    targets.push_back(ends ? -1 : static_cast<int>(next));
  }
  return targets;
}

void attend(Rank& rank, const AttentionShare& share, const std::vector<Count>& documents, int owner, ConstView kv) {
  const int c = rank.size(), heads = static_cast<int>(share.lse.cols());
  const Count length = share.sequence / (2 * c);
  for (int mine = 0; mine < 2; ++mine) {
    const Range queries = piece_at(share.sequence, c, pieces_of(rank.id(), c)[mine]);
    for (int theirs = 0; theirs < 2; ++theirs) {
      const Range keys = piece_at(share.sequence, c, pieces_of(owner, c)[theirs]);
      const ConstView of_keys = kv.rows_part({2 * theirs * length, 2 * (theirs + 1) * length});
      for (std::size_t d = 0; d < documents.size(); ++d) {
        const Count end = d + 1 < documents.size() ? documents[d + 1] : share.sequence;
        const Range some = intersect(queries, {documents[d], end});
        if (some.size() <= 0 || keys.end <= documents[d] || some.end <= keys.begin) continue;  // nothing is seen
        const Count row = mine * length - queries.begin;
        const Range rows{row + some.begin, row + some.end};
        Tensor lse;
        const Tensor y =
            partial_attention(share.q.rows_part(rows), of_keys, {heads, some.begin, keys.begin, documents[d]}, &lse);
        merge_attention(share.y.rows_part(rows), share.lse.rows_part(rows), y, lse);
      }
    }
  }
}
// <<<

/// The ring of puzzle 27: while a rank computes with some keys, the next ones are on their way.
void zigzag_forward(Rank& rank, const AttentionShare& share, const std::vector<Count>& documents) {
  Group& cp = rank.world();
  const int c = cp.size(), me = cp.rank();
  ConstView here = share.kv;
  Tensor held;
  for (int j = 0; j < c; ++j) {
    Tensor coming;
    Work sent, received;
    if (j + 1 < c) {
      coming = rank.empty(share.kv.shape(), Kind::buffer);
      sent = cp.send_async(here, (me + 1) % c);
      received = cp.recv_async(coming, (me + c - 1) % c);
    }
    attend(rank, share, documents, (me - j + c) % c, here);
    sent.wait();
    received.wait();
    held = std::move(coming);
    here = held;
  }
}

// What it costs: each step of the ring costs every rank two pairs of pieces, whatever its number, so the efficiency is
// 1 where consecutive positions have c/(2c-1). Bytes and memory are those of puzzle 27.
//
// What production does differently: Megatron-LM deals the pieces in this way, and calls it load balancing of the causal
// mask. Striped attention deals single positions in turn, which balances as well, and leaves each rank's blocks half
// masked. With documents of unequal lengths neither is balanced: there the documents themselves are dealt, by what they
// cost.
