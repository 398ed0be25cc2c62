// Gives the servers their rows and the workers their batches, lets each do its part, and publishes the servers' tables
// and the rows that each batch was computed with.

#include "submission/harness.h"

#include <string>

#include "plan.h"

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(serve,
                            void(Rank& rank, int servers, int backups, int steps, Count touched, float lr, View table));
SHARDLINGS_LEARNER_FUNCTION(work, void(Rank& rank, int servers, int slowness, const std::vector<ConstView>& ids,
                                       const std::vector<ConstView>& wanted, ConstView curvature,
                                       const std::vector<View>& seen));

namespace {

void run_server(Harness& h, const ServerPlan& plan) {
  const int server = h.rank().id();
  Tensor table = h.normals(plan.table(server), {plan.rows_of(server), plan.hidden}, Kind::parameter);
  h.begin();
  serve(h.rank(), plan.servers, plan.backups, plan.steps, plan.touched(server), plan.lr, table);
  h.end();
  h.put("server." + std::to_string(server), table);
}

void run_worker(Harness& h, const ServerPlan& plan) {
  const int worker = h.rank().id() - plan.servers;
  std::vector<Tensor> ids, wanted;
  for (int step = 0; step < plan.steps; ++step) {
    for (int server = 0; server < plan.servers; ++server) {
      ids.push_back(h.ids(plan.ids(worker, step, server), Kind::other));
    }
    wanted.push_back(h.normals(plan.wanted(worker, step), {plan.touched_in_all(), plan.hidden}, Kind::other));
  }
  const Tensor curvature = h.normals(ServerPlan::curvature(), {plan.hidden, plan.hidden}, Kind::other);
  const Count rows = plan.touched_in_all();
  Tensor seen = h.rank().empty({plan.steps * rows, plan.hidden}, Kind::other);
  std::vector<View> seen_views;
  for (int step = 0; step < plan.steps; ++step) seen_views.push_back(seen.rows_part({step * rows, (step + 1) * rows}));
  const std::vector<ConstView> id_views(ids.begin(), ids.end()), wanted_views(wanted.begin(), wanted.end());
  h.begin();
  work(h.rank(), plan.servers, plan.is_slow(worker) ? plan.slowness : 1, id_views, wanted_views, curvature, seen_views);
  h.end();
  for (int step = 0; step < plan.steps; ++step) {
    h.put(ServerPlan::seen(worker, step), seen_views[static_cast<std::size_t>(step)]);
  }
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  const ServerPlan plan(h.kase());
  if (h.rank().id() < plan.servers) {
    run_server(h, plan);
  } else {
    run_worker(h, plan);
  }
}
