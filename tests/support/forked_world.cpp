#include "support/forked_world.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "front/group/rank_groups.h"
#include "front/group/shared_control.h"
#include "front/store/shared_store.h"
#include "support/forked_control.h"
#include "world/run_rank.h"

namespace shardlings::support {
namespace {

using front::RunReport;
using world::Options;

// The whole life of a rank's process. Returns its exit status.
int run_process(const Options& options, int rank, const front::Membership& world, Channel& server,
                const std::shared_ptr<SharedArena>& arena, const std::function<void(Rank&)>& body) try {
  const auto fabric = make_forked_fabric(arena);
  ForkedControl control(server, arena, *fabric, world);
  ForkedStore store(server);
  front::RankFront front(options, rank, back::make_cpu_device(), control, store);
  Writer message;
  message << Request::report << world::run_rank(front, control, body);
  server.send(message);
  server.receive();
  return 0;
} catch (const std::exception&) {
  return 1;  // the server sees the connection end
}

pid_t start_process(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) _exit(body());
  return child;
}

}  // namespace

RunReport run_forked_world(const Options& options, const std::function<void(Rank&)>& body) {
  const auto arena = std::make_shared<SharedArena>();
  const auto engine = back::make_threads_engine();
  const auto fabric = make_relay_fabric(arena);
  front::SharedControl control(options.ranks, options.cluster, *engine, *fabric, options.black_box, options.checks);
  if (!options.deaths.empty()) control.expect_deaths(options.detection);
  front::SharedStore store;
  std::vector<Channel> channels;
  std::vector<pid_t> children;
  for (int rank = 0; rank < options.ranks; ++rank) {
    auto [here, there] = make_channels();
    children.push_back(start_process(
        [&, &mine = there] { return run_process(options, rank, control.world(rank), mine, arena, body); }));
    channels.push_back(std::move(here));
  }
  RunReport report;
  report.ranks.resize(static_cast<std::size_t>(options.ranks));
  engine->run(options.ranks, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    report.ranks[r] = serve_rank(rank, channels[r], control, store);
  });
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  report.failure = control.failure();
  if (!report.failure) report.failure = store.race();
  return report;
}

}  // namespace shardlings::support
