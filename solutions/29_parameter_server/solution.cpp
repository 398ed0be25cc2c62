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
  Group world = rank.world();
  const int workers = world.size() - servers;
  const Range all{0, table.rows()};
  std::vector<Tensor> ids(workers);
  std::vector<Work> sent(workers);
  std::vector<int> pushes(workers);
  const auto receive_ids = [&](int w) {
    ids[w] = rank.empty(touched, Kind::other, DType::i32);
    world.recv(ids[w], servers + w);
  };
  const auto reply = [&](int w) {
    sent[w].wait();  // over: the worker has used what it got
    Tensor rows = embedding(ids[w], table, all);
    sent[w] = world.send_async(rows, servers + w).keep(std::move(rows));
  };
  for (int w = 0; w < workers; ++w) receive_ids(w);
  for (int w = 0; w < workers; ++w) reply(w);
  Tensor sum = rank.zeros(table.shape(), Kind::gradient);
  Tensor grad = rank.empty({touched, table.cols()}, Kind::gradient);
  std::vector<int> waiting;
  int step = 0, taken = 0;
  for (int i = 0; i < workers * steps; ++i) {
    const int w = world.recv_any(grad) - servers;
    const bool late = pushes[w]++ < step, asks_again = pushes[w] < steps;
    if (!late) {
      embedding_backward_add(sum, ids[w], all, grad);
      ++taken;
    }
    if (asks_again) receive_ids(w);
    if (late && asks_again) reply(w);
    if (!late && asks_again) waiting.push_back(w);
    if (taken < workers - backups) continue;
    axpy(table, -lr / static_cast<float>(taken), sum);
    fill(sum, 0);
    for (const int ready : waiting) reply(ready);
    waiting.clear();
    taken = 0;
    ++step;
  }
  for (Work& each : sent) each.wait();
}

void work(Rank& rank, int servers, int slowness, const std::vector<ConstView>& ids,
          const std::vector<ConstView>& wanted, ConstView curvature, const std::vector<View>& seen) {
  Group world = rank.world();
  const int steps = static_cast<int>(wanted.size());
  std::vector<Work> sent;
  for (int s = 0; s < servers; ++s) sent.push_back(world.send_async(ids[s], s));
  for (int i = 0; i < steps; ++i) {
    Tensor rows = rank.empty(wanted[i].shape(), Kind::parameter);
    std::vector<Range> part;  // of `rows`, by server
    std::vector<Work> pulled;
    for (int s = 0; s < servers; ++s) {
      const Count begin = s == 0 ? 0 : part.back().end;
      part.push_back({begin, begin + ids[i * servers + s].size()});
      pulled.push_back(world.recv_async(rows.rows_part(part[s]), s));
    }
    for (Work& each : pulled) each.wait();
    for (Work& each : sent) each.wait();
    sent.clear();
    const Tensor grads = gradient(rows, wanted[i], curvature, slowness, seen[i]);
    for (int s = 0; s < servers; ++s) {
      sent.push_back(world.send_async(grads.rows_part(part[s]), s));
      if (i + 1 < steps) sent.push_back(world.send_async(ids[(i + 1) * servers + s], s));
    }
    for (Work& each : sent) each.wait();  // the servers have them: grads can go
    sent.clear();
  }
}
// <<<

// What it costs: 2 N rows of each server's share for each step, N out and N in, which travel at the same time as soon
// as the workers are not in step; the worker's own link carries all of its rows twice.
//
// What production does differently: keys are hashed to servers, and each key range is kept on several of them; workers
// send ids with a filter that leaves out what the server knows already; and today such tables are sharded over the
// workers themselves, which exchange rows by all-to-all.
