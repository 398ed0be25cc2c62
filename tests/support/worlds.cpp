#include "support/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "back/kernels/cuda/emulation/emulation.h"
#include "back/kernels/gpus.h"
#include "front/remote/messages.h"
#include "support/fake_gpu.h"
#include "support/fake_nccl.h"
#include "support/forked_world.h"
#include "support/jailed_world.h"
#include "support/test_device.h"
#include "world/process_world.h"
#include "world/use_backend.h"

namespace shardlings::support {
namespace {

using front::RunReport;
using world::Options;

RunReport run_threads(const Options& options, const Disturbance&, const Body& body) {
  return world::run(options, body);
}

/// One thread runs all ranks, and the disturbance is the schedule itself.
RunReport run_fibers(const Options& options, const Disturbance& disturbance, const Body& body) {
  Options with_fibers = options;
  with_fibers.make_engine = [&] { return back::make_fibers_engine(disturbance.seed); };
  return world::run(with_fibers, body);
}

RunReport run_fake_gpus(const Options& options, const Disturbance& disturbance, const Body& body) {
  FakeGpus gpus({disturbance.seed, disturbance.max_delay_us});
  Options with_gpus = options;
  with_gpus.make_device = [&](int) { return gpus.make_device(); };
  with_gpus.make_fabric = back::make_device_copy_fabric;
  RunReport report = world::run(with_gpus, body);
  for (const std::string& fault : gpus.faults()) ADD_FAILURE() << "fake GPU: " << fault;
  if (!report.failure) {
    EXPECT_EQ(gpus.blocks_alive(), 0) << "device memory that nobody released";
  }
  return report;
}

RunReport run_on(const TestDevice& device, const Options& options, const Body& body) {
  Options with_device = options;
  with_device.make_device = [&](int) { return device.make(); };
  with_device.make_fabric = back::make_device_copy_fabric;
  return world::run(with_device, body);
}

RunReport run_emulated_cuda(const Options& options, const Disturbance& disturbance, const Body& body) {
  emulation::delay_streams(disturbance.seed, disturbance.max_delay_us);
  RunReport report = run_on(emulated_cuda_device(), options, body);
  for (const std::string& fault : emulation::take_faults()) ADD_FAILURE() << "emulated GPU: " << fault;
  EXPECT_EQ(emulation::blocks_alive(), 0) << "memory that nobody released";
  return report;
}

RunReport run_cuda(const Options& options, const Disturbance&, const Body& body) {
  return run_on(cuda_device(), options, body);
}

std::string cuda_missing() {
  return cuda_device().missing();
}

/// A GPU for each rank and NCCL between them.
RunReport run_fake_nccl(const Options& options, const Disturbance& disturbance, const Body& body) {
  constexpr double kTimeout = 60;
  FakeGpus gpus({disturbance.seed, disturbance.max_delay_us});
  FakeNccl nccl(gpus);
  Options with_gpus = options;
  with_gpus.make_device = [&](int) { return gpus.make_device(); };
  with_gpus.make_fabric = [&] { return back::nccl::make_fabric(nccl, options.ranks, kTimeout); };
  RunReport report = world::run(with_gpus, body);
  for (const std::string& fault : gpus.faults()) ADD_FAILURE() << "fake GPU: " << fault;
  for (const std::string& fault : nccl.faults()) ADD_FAILURE() << "fake NCCL: " << fault;
  if (!report.failure) {
    EXPECT_EQ(gpus.blocks_alive(), 0) << "device memory that nobody released";
    EXPECT_EQ(nccl.alive(), 0) << "communicators, queues or events that nobody freed";
  }
  return report;
}

/// A GPU for each rank and the real NCCL.
RunReport run_nccl(const Options& options, const Disturbance&, const Body& body) {
  Options with_nccl = options;
  use_backend(with_nccl, world::Backend::nccl);
  return world::run(with_nccl, body);
}

/// Each rank in a process of its own.
RunReport run_forked(const Options& options, const Disturbance&, const Body& body) {
  return run_forked_world(options, options.ranks, body);
}

/// Several ranks in most processes.
RunReport run_forked_few(const Options& options, const Disturbance&, const Body& body) {
  constexpr int kProcesses = 3;
  return run_forked_world(options, kProcesses, body);
}

/// Gives all processes the report that process 0 has. All of them call it.
void share_report(back::Progress& progress, RunReport& report) {
  front::remote::Writer written;
  if (progress.process() == 0) written << report.ranks << report.failure;
  const std::string bytes = world::from_first(progress, written.bytes());
  if (progress.process() == 0) return;
  front::remote::Reader message(bytes);
  message >> report.ranks >> report.failure;
}

/// The processes that mpirun has started, each of which makes the same runs.
RunReport run_mpi(const Options& options, const Disturbance&, const Body& body) {
  Options with_mpi = options;
  use_backend(with_mpi, world::Backend::mpi);
  RunReport report = world::run(with_mpi, body);
  share_report(*with_mpi.progress, report);
  return report;
}

/// Nobody's process may end before all do.
class MpiEnvironment : public testing::Environment {
 public:
  void TearDown() override { world::leave_backend(world::Backend::mpi); }
};

/// How many ranks NCCL is to be tried with: as many as there are GPUs, where SHARDLINGS_TEST_NCCL asks for it.
int nccl_ranks() {
  const char* wanted = std::getenv("SHARDLINGS_TEST_NCCL");
  return wanted != nullptr && *wanted == '1' ? static_cast<int>(back::find_gpus().found.size()) : 0;
}

bool is_under_mpirun() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMI_SIZE") != nullptr;
}

RunReport run_jailed(const Options& options, const Disturbance&, const Body& body) {
  return run_jailed_world(options, body);
}

// What one rank did, a line for each thing, so that a difference can be read.
std::string text_of(const front::Counters& c) {
  std::string text = fmt::format(
      "live {} peak {} at {}:{} saved {} flops {} operations {} forwards {} backwards {} to host {} in {} reads\n"
      "end {} busy {} {} {} {} {} {} peers {} exposed {} overlapped {} host {}\n"
      "host memory live {} peak {} at {}:{} copies {} of {} and {} of {}\n"
      "store busy {} waited {} writes {} of {} reads {} of {} renames {} died {}\n",
      c.live.value(), c.peak.value(), c.peak_file, c.peak_line, c.saved_peak, c.flops.value(), c.operations,
      c.layer_forwards, c.layer_backwards, c.sent_to_host.value(), c.host_reads, c.end.value(), c.busy[0].value(),
      c.busy[1].value(), c.busy[2].value(), c.busy[3].value(), c.busy[4].value(), c.busy[5].value(),
      c.waited_for_peers.value(), c.exposed_transfer.value(), c.overlapped_transfer.value(), c.waited_for_host.value(),
      c.host.live.value(), c.host.peak.value(), c.host.peak_file, c.host.peak_line, c.copies[0].calls,
      c.copies[0].bytes.value(), c.copies[1].calls, c.copies[1].bytes.value(), c.busy[6].value(),
      c.waited_for_store.value(), c.store[0].calls, c.store[0].bytes.value(), c.store[1].calls,
      c.store[1].bytes.value(), c.renames, c.died ? c.died->value() : -1);
  for (const auto& [key, t] : c.traffic) {
    text += fmt::format("{} in {} over link {}: {} calls, sent {}, received {}\n", back::name_of(key.kind), key.group,
                        static_cast<int>(key.link), t.calls, t.sent.value(), t.received.value());
  }
  return text;
}

std::string text_of(const front::RankTrace& trace, const front::Event& e) {
  return fmt::format(
      "#{} {} kind {} lane {} depth {} group {} peer {} micro {} layer {} line {} [{}, {}] posted {} "
      "bytes {} flops {} live {}",
      e.order, trace.names.at(e.name), static_cast<int>(e.kind), static_cast<int>(e.lane), e.depth,
      e.group < 0 ? "" : trace.groups.at(static_cast<std::size_t>(e.group)), e.peer, e.label.micro, e.label.layer,
      e.at.line, e.begin.value(), e.end.value(), e.posted.value(), e.bytes.value(), e.flops.value(),
      e.live_after.value());
}

void expect_close(const std::vector<float>& values, const std::vector<float>& expected, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  double largest = 0;
  for (const float value : expected) largest = std::max(largest, static_cast<double>(std::abs(value)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = std::abs(static_cast<double>(values[i]) - static_cast<double>(expected[i]));
    ASSERT_TRUE(difference <= tolerance * largest) << what << ", element " << i << ": " << values[i] << ", expected "
                                                   << expected[i] << " within " << tolerance << " of " << largest;
  }
}

/// Sums in two orders: what is missing or counted twice is off by more than their rounding.
bool near_in_any_order(const std::vector<float>& values, const std::vector<float>& expected) {
  constexpr double kF32 = 1e-5, kBf16 = 1.0 / 32;
  constexpr std::uint32_t kRest = 0xFFFF;
  double largest = 1;
  bool is_bf16 = true;
  for (const float value : expected) {
    if (std::isfinite(value)) largest = std::max(largest, static_cast<double>(std::abs(value)));
    is_bf16 = is_bf16 && (std::bit_cast<std::uint32_t>(value) & kRest) == 0;
  }
  const double tolerance = (is_bf16 ? kBf16 : kF32) * largest;
  return std::equal(values.begin(), values.end(), expected.begin(), expected.end(), [&](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           std::abs(static_cast<double>(a) - static_cast<double>(b)) <= tolerance;
  });
}

/// Both are numbers of bf16, at most two steps apart.
bool near_in_bf16(float a, float b) {
  constexpr std::uint32_t kRest = 0xFFFF;
  const auto x = std::bit_cast<std::uint32_t>(a), y = std::bit_cast<std::uint32_t>(b);
  return (x & kRest) == 0 && (y & kRest) == 0 && (x > y ? x - y : y - x) <= 2 * (kRest + 1);
}

void expect_same_curve(const std::vector<front::MemoryPoint>& curve, const std::vector<front::MemoryPoint>& reference) {
  ASSERT_EQ(curve.size(), reference.size());
  for (std::size_t i = 0; i < curve.size(); ++i) {
    ASSERT_EQ(curve[i].time, reference[i].time) << "point " << i << " of the memory curve";
    ASSERT_EQ(curve[i].live, reference[i].live) << "point " << i << " of the memory curve";
  }
}

void expect_same_trace(const front::RankTrace& trace, const front::RankTrace& reference) {
  ASSERT_EQ(trace.events.size(), reference.events.size());
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    ASSERT_EQ(text_of(trace, trace.events[i]), text_of(reference, reference.events[i]));
  }
  expect_same_curve(trace.memory, reference.memory);
  expect_same_curve(trace.host_memory, reference.host_memory);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const WorldKind& kind) {
  return out << kind.name;
}

namespace {

std::vector<WorldKind> make_world_kinds() {
  std::vector<WorldKind> kinds = {
      {"threads", 1, 1 << 20, false, run_threads},
      {"fibers", 1, 1 << 20, false, run_fibers},
      {"fake_gpu", 1, 1 << 20, false, run_fake_gpus},
      {"fake_nccl", 1, 1 << 20, false, run_fake_nccl, nothing_missing, Equality::bf16_steps},
      {"forked", 1, 4, false, run_forked},
      {"forked_few", 1, 9, false, run_forked_few},
      {"jailed", 1, 9, false, run_jailed},
      {"cuda_emulated", 1, 16, true, run_emulated_cuda},
      {"cuda", 1, 16, true, run_cuda, cuda_missing}};
  if (is_under_mpirun()) {
    testing::AddGlobalTestEnvironment(new MpiEnvironment);  // NOLINT: GoogleTest's from now on
    kinds.push_back({"mpi", 1, 64, false, run_mpi});
  }
  if (const int ranks = nccl_ranks(); ranks > 0) {
    kinds.push_back({"nccl", 1, ranks, true, run_nccl, nothing_missing, Equality::any_order});
  }
  return kinds;
}

}  // namespace

const std::vector<WorldKind>& world_kinds() {
  static const std::vector<WorldKind> kinds = make_world_kinds();
  return kinds;
}

front::Cluster test_cluster() {
  front::Cluster cluster;
  cluster.name = "test";
  cluster.ranks_per_node = 4;
  cluster.uses_table = false;
  cluster.roofline = {1e11, 1e12, 1e10, Nanos(700)};
  cluster.links[0] = {Nanos(1300), 7e9};
  cluster.links[1] = {Nanos(9100), 1e9};
  cluster.host_links = {front::LinkSpeed{Nanos(900), 2e9}, front::LinkSpeed{Nanos(1100), 3e9}};
  cluster.host.bytes_per_second = 5e9;
  return cluster;
}

world::Options options_for(int ranks) {
  world::Options options;
  options.ranks = ranks;
  options.cluster = test_cluster();
  options.poison_empty = true;
  return options;
}

RunReport run_well(const WorldKind& kind, const Options& options, const Disturbance& disturbance, const Body& body) {
  RunReport report = kind.run(options, disturbance, body);
  if (report.failure) {
    ADD_FAILURE() << kind.name << ", " << options.ranks << " ranks: " << name_of(report.failure->kind) << " on rank "
                  << report.failure->rank << ":\n"
                  << report.failure->message;
  }
  return report;
}

RunReport run_and_compare(const WorldKind& kind, const Options& options, const Disturbance& disturbance,
                          const Body& body, double tolerance) {
  SCOPED_TRACE(fmt::format("{}, {} ranks", kind.name, options.ranks));
  RunReport report = run_well(kind, options, disturbance, body);
  expect_same(report, run_well(world_kinds().front(), options, disturbance, body), kind.own_arithmetic ? tolerance : 0,
              kind.equality);
  return report;
}

void expect_values(const std::vector<float>& values, const std::vector<float>& expected, const std::string& what,
                   Equality equality) {
  ASSERT_EQ(values.size(), expected.size()) << what;
  if (equality == Equality::any_order && near_in_any_order(values, expected)) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (equality == Equality::bf16_steps && near_in_bf16(values[i], expected[i])) continue;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(expected[i]))
        << what << ", element " << i << ": " << values[i] << ", expected " << expected[i];
  }
}

void expect_same(const RunReport& report, const RunReport& reference, double tolerance, Equality equality) {
  ASSERT_EQ(report.ranks.size(), reference.ranks.size());
  for (std::size_t r = 0; r < report.ranks.size(); ++r) {
    SCOPED_TRACE(fmt::format("rank {}", r));
    const front::RankReport& a = report.ranks[r];
    const front::RankReport& b = reference.ranks[r];
    EXPECT_EQ(text_of(a.counters), text_of(b.counters));
    EXPECT_TRUE(a.counters == b.counters);
    expect_same_trace(a.trace, b.trace);
    EXPECT_EQ(a.shows.kept, b.shows.kept);
    EXPECT_EQ(a.shows.left_out, b.shows.left_out);
    ASSERT_EQ(a.published.size(), b.published.size());
    for (std::size_t i = 0; i < a.published.size(); ++i) {
      ASSERT_EQ(a.published[i].name, b.published[i].name);
      if (tolerance > 0 && equality != Equality::any_order) {
        expect_close(a.published[i].values, b.published[i].values, tolerance, a.published[i].name);
      } else {
        expect_values(a.published[i].values, b.published[i].values, a.published[i].name, equality);
      }
    }
  }
}

}  // namespace shardlings::support
