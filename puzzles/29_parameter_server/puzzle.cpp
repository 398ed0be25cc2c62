// Puzzle 29: servers that keep a table, and workers that push gradients of its rows and pull the rows they need next.
//
// A server does not know whose gradient comes next: it receives from any rank. The lesson is README.md beside this
// file; `./shardlings explain 29` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// A table of rows of h numbers lies on S servers, ranks 0 to S-1 of rank.world(). Ranks S to S+N-1 are workers. Each
/// of them trains on `steps` batches, one after another, and of each server it needs as many rows for a batch as all
/// other workers do, `touched`.
///
/// serve   server s has `table` (rows of s, h), its rows of the table: updated in place
/// work    ids[i S + s] (k) i32 are the rows of server s that batch i needs, k = `touched` of that server, without
///         repeats; wanted[i] (K, h) belongs to those rows, server by server; K is the sum of all k; `gradient` leaves
///         in seen[i] (K, h) which rows batch i was computed with
///
/// Result  after each step a server's table = table - lr (mean of the gradients of N - backups workers), in which a row
///         that a worker did not need has the gradient 0. Rows are sent as they are after the last step that has ended
/// Backup  a step ends as soon as N - backups gradients of its batches have come. Gradients that come later are
///         received and thrown away, and their workers get the rows that they need next at once
/// Wire    in all steps a server sends each worker the rows of its batches, and gets as many gradients and the ids:
///         each of them once, by messages only
/// Time    workers that are not waited for do not hold up the others; each worker that a step waits for computes one
///         gradient in it, and a server's link carries rows and gradients of all workers one after another
/// Memory  server: its table, a second one, a gradient, and for each worker rows to send and the ids of two batches.
///         Worker: rows, and three times as much. Nothing lies on the host

/// Of a batch: (rows - wanted) curvature, (K, h). A slow worker takes `slowness` times as long. `seen` takes the rows.
Tensor gradient(ConstView rows, ConstView wanted, ConstView curvature, int slowness, View seen) {
  copy(seen, rows);
  Tensor off = clone(rows), result;
  axpy(off, -1, wanted);
  for (int i = 0; i < slowness; ++i) result = matmul(off, curvature, nn);
  return result;
}

// >>> your code (about 60 lines)
void serve(Rank& rank, int servers, int backups, int steps, Count touched, float lr, View table) {
  not_implemented();
}

void work(Rank& rank, int servers, int slowness, const std::vector<ConstView>& ids,
          const std::vector<ConstView>& wanted, ConstView curvature, const std::vector<View>& seen) {
  not_implemented();
}
// <<<
