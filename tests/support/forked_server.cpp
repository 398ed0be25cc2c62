#include <fmt/format.h>

#include "shardlings/error.h"
#include "support/forked_control.h"

namespace shardlings::support {
namespace {

using front::Control;
using front::Failure;
using front::RankReport;
using front::Ticket;

/// The data are in the ranks' processes, whose movers get everybody's handles with the answers: nothing to do here.
class RelayExchange final : public back::Exchange {
 public:
  void begin(int) override {}
  back::DataHandle post(int, const back::Signature&, const back::Buffers&) override { return {}; }
  bool launch(const back::Signature&, std::span<const back::DataHandle>) override { return true; }
  back::HelpResult help(int) override { return back::HelpResult::none_left; }
  void finish(int) override {}
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
      case Request::wait_for_any: return wait_for_any(message);
      case Request::restart_clock: control_.restart_clock(rank_); break;
      case Request::finish: finish(message); break;
      case Request::report: report_ = message.get<RankReport>(); break;
    }
    return {};
  }

  Writer post(Reader& message) {
    const auto group = message.get<std::uint32_t>();
    return post(control_.join(rank_, group), message);
  }

  Writer post_message(Reader& message) {
    const auto group = message.get<std::uint32_t>();
    const auto from = message.get<int>();
    const auto to = message.get<int>();
    return post(control_.join_message(rank_, group, from, to), message);
  }

  Writer post(const Ticket& ticket, Reader& message) {
    const auto record = message.get<front::CallRecord>();
    control_.post(rank_, ticket, record, message.get<back::DataHandle>());
    Writer answer;
    answer << ticket.operation;
    return answer;
  }

  static Ticket ticket_in(Reader& message) {
    Ticket ticket;
    message >> ticket.operation >> ticket.member;
    return ticket;
  }

  Writer wait(Reader& message) {
    const Ticket ticket = ticket_in(message);
    Writer answer;
    try {
      answer << true << control_.wait(rank_, ticket, message.get<Location>());
      control_.leave(rank_, ticket);
    } catch (const Aborted&) {
      return refusal();
    }
    return answer;
  }

  Writer wait_split(Reader& message) {
    const Ticket ticket = ticket_in(message);
    Writer answer;
    try {
      const front::SplitOutcome outcome = control_.wait_split(rank_, ticket, message.get<Location>());
      answer << true << outcome.start << outcome.end;
      answer << (outcome.made ? std::optional(*outcome.made->group) : std::nullopt);
      if (outcome.made) answer << outcome.made->member;
    } catch (const Aborted&) {
      return refusal();
    }
    return answer;
  }

  Writer wait_for_any(Reader& message) {
    const auto group = message.get<std::uint32_t>();
    const auto record = message.get<front::CallRecord>();
    Writer answer;
    try {
      answer << true << control_.wait_for_any(rank_, group, record, message.get<Location>());
    } catch (const Aborted&) {
      return refusal();
    }
    return answer;
  }

  static Writer refusal() {
    Writer answer;
    answer << false;
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
