// Ranks are threads that see one another's memory: a collective is cut into pieces, and a rank that waits claims some.
// There is no central copying rank, and an operation completes even if most of its members do something else.
#include "back/fabric/fabric.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "back/fabric/reduce.h"
#include "base/dtype.h"
#include "base/parts.h"

namespace shardlings::back {
namespace {

// Elements of one piece: all members' inputs and outputs of a piece should stay in the nearer caches.
constexpr Count kPiece = 8192;
// Operations that touch at most so many bytes in all are done on the spot by the rank that posts last: waking others
// to help would take longer.
constexpr std::int64_t kSmall = 64 * 1024;

/// Invariants
/// (1) `buffers_`, `signature_` and `pieces_` do not change from launch() until all members have finished, and a rank
///     that calls launch(), help() or finish() has come by the control plane's agreement, which orders them after all
///     posts and after the launch. So they are plain data, and what begin() and launch() store needs no order.
/// (2) A piece is moved by the one who drew its number from `next_`. That each number is drawn once is the nature of a
///     read-modify-write; nothing is handed over with it, so it is relaxed.
/// (3) `left_` counts the pieces that are not in place. A rank that has moved one releases it by counting down, and
///     such countings form one sequence: the rank that brings it to 0 (acquire) sees all pieces, and says `complete`.
///     How that reaches the members who wait is the mover's.
class InProcessExchange final : public Exchange {
 public:
  void begin(int members) override {
    buffers_.resize(static_cast<std::size_t>(members));
    next_.store(0, std::memory_order_relaxed);
  }

  DataHandle post(int member, const Signature&, const Buffers& buffers) override {
    buffers_[static_cast<std::size_t>(member)] = buffers;
    return 0;
  }

  bool launch(const Signature& signature, std::span<const DataHandle>) override {
    signature_ = signature;
    pieces_ = count_pieces();
    left_.store(pieces_, std::memory_order_relaxed);
    if (pieces_ == 0) return true;
    if (signature.count * signature.members * size_of(signature.dtype) > kSmall) return false;
    for (int piece = 0; piece < pieces_; ++piece) move(piece);
    return true;
  }

  HelpResult help(int) override {
    for (;;) {
      const int piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces_) {
        // Never overflows, however often somebody asks. All numbers below have been drawn.
        next_.store(pieces_, std::memory_order_relaxed);
        return HelpResult::none_left;
      }
      move(piece);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) return HelpResult::complete;
    }
  }

  void finish(int) override {}

 private:
  // A piece is a stretch of one target: of the whole for reductions and copies of all, else of one part.
  int pieces_of(Count n) const { return static_cast<int>((n + kPiece - 1) / kPiece); }

  bool by_parts() const {
    return signature_.kind == Collective::reduce_scatter || signature_.kind == Collective::all_gather ||
           signature_.kind == Collective::gather || signature_.kind == Collective::scatter ||
           signature_.kind == Collective::all_to_all;
  }

  Range part(int r) const { return part_of(signature_.count, signature_.members, r); }

  int count_pieces() const {
    if (signature_.kind == Collective::barrier || signature_.kind == Collective::split || signature_.count == 0)
      return 0;
    if (by_parts()) return signature_.members * pieces_of(part(0).size());
    return pieces_of(signature_.count);
  }

  void move(int piece) {
    if (!by_parts()) {
      move_whole({piece * kPiece, std::min<Count>((piece + 1) * kPiece, signature_.count)});
      return;
    }
    const int per_part = pieces_of(part(0).size());
    const int r = piece / per_part;
    const Count begin = (piece % per_part) * kPiece;
    const Range range{begin, std::min<Count>(begin + kPiece, part(r).size())};
    if (range.size() > 0) move_part(r, range);
  }

  void move_whole(Range range) {
    switch (signature_.kind) {
      case Collective::all_reduce: reduce_into(range, range, -1); break;
      case Collective::reduce: reduce_into(range, range, signature_.root); break;
      case Collective::broadcast:
        for (int r = 0; r < signature_.members; ++r) {
          if (r != signature_.root) copy(out(r, range.begin), in(signature_.root, range.begin), range.size());
        }
        break;
      default: copy(out(1, range.begin), in(0, range.begin), range.size()); break;  // send_recv
    }
  }

  // `range` lies in part r.
  void move_part(int r, Range range) {
    const Range whole{part(r).begin + range.begin, part(r).begin + range.end};
    switch (signature_.kind) {
      case Collective::reduce_scatter: reduce_into(whole, range, r); break;
      case Collective::all_gather:
        for (int to = 0; to < signature_.members; ++to) copy(out(to, whole.begin), in(r, range.begin), range.size());
        break;
      case Collective::gather: copy(out(signature_.root, whole.begin), in(r, range.begin), range.size()); break;
      case Collective::scatter: copy(out(r, range.begin), in(signature_.root, whole.begin), range.size()); break;
      default:  // all_to_all: rank r receives its part from everybody, in the order of the senders
        for (int from = 0; from < signature_.members; ++from) {
          copy(out(r, from * part(r).size() + range.begin), in(from, whole.begin), range.size());
        }
        break;
    }
  }

  // Combines elements `from` of all inputs, in rank order, into elements `to` of one member's output, or of all (-1).
  void reduce_into(Range from, Range to, int target) {
    const void* inputs[kMaxInputs];
    std::vector<const void*> many;
    const void** sources = inputs;
    if (signature_.members > kMaxInputs) {
      many.resize(static_cast<std::size_t>(signature_.members));
      sources = many.data();
    }
    for (int r = 0; r < signature_.members; ++r) sources[r] = in(r, from.begin);
    alignas(64) std::byte sum[kPiece * 4];
    reduce_ordered(signature_.dtype, signature_.reduce, sources, signature_.members, from.size(), sum);
    for (int r = 0; r < signature_.members; ++r) {
      if (target < 0 || r == target) copy(out(r, to.begin), sum, from.size());
    }
  }

  const char* in(int member, Count element) const {
    return static_cast<const char*>(buffers_[static_cast<std::size_t>(member)].in) +
           element * size_of(signature_.dtype);
  }
  char* out(int member, Count element) const {
    return static_cast<char*>(buffers_[static_cast<std::size_t>(member)].out) + element * size_of(signature_.dtype);
  }
  void copy(char* to, const void* from, Count n) const {
    if (to != from) std::memcpy(to, from, static_cast<std::size_t>(n * size_of(signature_.dtype)));
  }

  static constexpr int kMaxInputs = 64;
  Signature signature_;
  int pieces_ = 0;
  std::vector<Buffers> buffers_;
  alignas(64) std::atomic<int> next_{0};
  std::atomic<int> left_{0};
};

class InProcessFabric final : public Fabric {
 public:
  std::unique_ptr<Exchange> make_exchange() override { return std::make_unique<InProcessExchange>(); }
  void abort() noexcept override {}
};

}  // namespace

std::unique_ptr<Fabric> make_in_process_fabric() {
  return std::make_unique<InProcessFabric>();
}

}  // namespace shardlings::back
