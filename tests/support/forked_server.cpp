#include <fmt/format.h>

#include "shardlings/error.h"
#include "support/forked_control.h"

namespace shardlings::support {
namespace {

using front::Control;
using front::Failure;
using front::RankReport;
using front::Ticket;

/// What the server thread of a rank finished last. The control plane calls finish() in the waiting rank's thread.
struct Relayed {
  back::Plan plan;
  std::vector<std::uint64_t> cookies;
};
thread_local Relayed last_finished;

/// Moves no data: a member's cookie comes in place of its input's address.
class RelayExchange final : public back::Exchange {
 public:
  void begin(int) override {}
  std::uint64_t post(int, const back::Plan&, const back::Buffers& buffers) override {
    return reinterpret_cast<std::uint64_t>(buffers.in);
  }
  bool launch(const back::Plan& plan, std::span<const std::uint64_t> cookies) override {
    relayed_.plan = plan;
    relayed_.cookies.assign(cookies.begin(), cookies.end());
    return true;
  }
  back::Progress help(int) override { return back::Progress::none_left; }
  void finish(int) override { last_finished = relayed_; }

 private:
  Relayed relayed_;
};

class RelayFabric final : public back::Fabric {
 public:
  explicit RelayFabric(std::shared_ptr<SharedArena> arena) : arena_(std::move(arena)) {}
  std::unique_ptr<back::Exchange> make_exchange() override { return std::make_unique<RelayExchange>(); }
  void abort() noexcept override { arena_->aborted() = true; }

 private:
  std::shared_ptr<SharedArena> arena_;
};

class Server {
 public:
  Server(int rank, Channel& channel, Control& control) : rank_(rank), channel_(channel), control_(control) {}

  RankReport run() {
    while (!report_) {
      std::optional<Reader> message = channel_.receive();
      if (!message) {
        process_gone();
        return {};
      }
      channel_.send(answer(*message));
    }
    return std::move(*report_);
  }

 private:
  Writer answer(Reader& message) {
    switch (message.get<Request>()) {
      case Request::post: return post(message);
      case Request::post_message: return post_message(message);
      case Request::wait: return wait(message);
      case Request::wait_split: return wait_split(message);
      case Request::abandon: control_.abandon(rank_, message.get<Ticket>()); break;
      case Request::restart_clock: control_.restart_clock(rank_); break;
      case Request::finish: finish(message); break;
      case Request::report: report_ = message.get<RankReport>(); break;
    }
    return {};
  }

  static back::Buffers cookie(Reader& message) {
    back::Buffers buffers;
    buffers.in = reinterpret_cast<const void*>(message.get<std::uint64_t>());
    return buffers;
  }

  Writer post(Reader& message) {
    const auto group = message.get<std::uint32_t>();
    const auto member = message.get<int>();
    const auto record = message.get<front::CallRecord>();
    Writer answer;
    answer << control_.post(rank_, group, member, record, cookie(message));
    return answer;
  }

  Writer post_message(Reader& message) {
    const auto group = message.get<std::uint32_t>();
    const auto from = message.get<int>();
    const auto to = message.get<int>();
    const auto sends = message.get<bool>();
    const auto record = message.get<front::CallRecord>();
    Writer answer;
    answer << control_.post_message(rank_, group, from, to, sends, record, cookie(message));
    return answer;
  }

  Writer wait(Reader& message) {
    const auto ticket = message.get<Ticket>();
    Writer answer;
    try {
      const front::Outcome outcome = control_.wait(rank_, ticket, message.get<Location>());
      answer << true << outcome << last_finished.plan << last_finished.cookies;
    } catch (const Aborted&) {
      answer << false;
    }
    return answer;
  }

  Writer wait_split(Reader& message) {
    const auto ticket = message.get<Ticket>();
    Writer answer;
    try {
      const front::SplitOutcome outcome = control_.wait_split(rank_, ticket, message.get<Location>());
      answer << true << outcome.time << outcome.group;
    } catch (const Aborted&) {
      answer << false;
    }
    return answer;
  }

  void finish(Reader& message) {
    const auto failure = message.get<std::optional<Failure>>();
    const auto last_call = message.get<std::string>();
    control_.finish(rank_, failure, last_call, message.get<Location>());
    finished_ = true;
  }

  void process_gone() {
    if (finished_) return;
    Failure failure;
    failure.kind = front::FailureKind::exception;
    failure.rank = rank_;
    failure.message = fmt::format("the process of rank {} ended in the middle of the run", rank_);
    control_.finish(rank_, failure, "something", {});
  }

  int rank_;
  Channel& channel_;
  Control& control_;
  bool finished_ = false;
  std::optional<RankReport> report_;
};

}  // namespace

std::unique_ptr<back::Fabric> make_relay_fabric(std::shared_ptr<SharedArena> arena) {
  return std::make_unique<RelayFabric>(std::move(arena));
}

RankReport serve_rank(int rank, Channel& channel, Control& control) {
  return Server(rank, channel, control).run();
}

}  // namespace shardlings::support
