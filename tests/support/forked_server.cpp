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
  Server(int rank, Channel& channel, Control& control, front::ItemStore& store)
      : rank_(rank), channel_(channel), control_(control), store_(store) {}

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
    const auto request = message.get<Request>();
    switch (request) {
      case Request::post: return post(message);
      case Request::post_message: return post_message(message);
      case Request::wait: return wait(message);
      case Request::wait_split: return wait_split(message);
      case Request::wait_for_any: return wait_for_any(message);
      case Request::wait_to_look: return wait_to_look(message);
      case Request::agree: return agree(message);
      case Request::die:
        finished_ = true;
        control_.die(rank_, message.get<Nanos>());
        break;
      case Request::revocation: return said(control_.revocation());
      case Request::is_agreed: return said(control_.is_agreed(rank_, ticket_in(message)));
      case Request::clear_lanes: control_.clear_lanes(rank_); break;
      case Request::restart_clock: control_.restart_clock(rank_); break;
      case Request::finish: finish(message); break;
      case Request::report: report_ = message.get<RankReport>(); break;
      default: return answer_store(request, message);
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

  Writer answer_store(Request request, Reader& message) {
    switch (request) {
      case Request::store_give: {
        const auto name = message.get<front::ItemName>();
        store_.give(name, message.get<front::Content>());
        break;
      }
      case Request::store_begin: store_.begin(); break;
      case Request::store_write: store_.write(message.get<front::ItemWrite>()); break;
      case Request::store_rename: store_.rename(message.get<front::FolderRename>()); break;
      case Request::store_bury: store_.bury(rank_, message.get<Nanos>()); break;
      case Request::store_look: {
        const auto time = message.get<Nanos>();
        return said(store_.look(time, message.get<front::ItemName>()));
      }
      default: {
        const auto time = message.get<Nanos>();
        return said(store_.has_folder(time, message.get<std::string>()));
      }
    }
    return {};
  }

  template <class T>
  static Writer said(const T& value) {
    Writer answer;
    answer << value;
    return answer;
  }

  /// What the answer is if the wait ends well; else, why it did not.
  template <class Wait>
  Writer waited(const Wait& wait) {
    Writer answer;
    try {
      answer << Waited::well;
      wait(answer);
      return answer;
    } catch (const Aborted&) {
      return said(Waited::aborted);
    } catch (const front::Revoked& revoked) {
      Writer refusal;
      refusal << Waited::revoked << revoked.revocation;
      return refusal;
    }
  }

  Writer wait(Reader& message) {
    const Ticket ticket = ticket_in(message);
    return waited([&](Writer& answer) {
      answer << control_.wait(rank_, ticket, message.get<Location>());
      control_.leave(rank_, ticket);
    });
  }

  static void put(Writer& answer, const std::optional<front::Membership>& made) {
    answer << (made ? std::optional(*made->group) : std::nullopt);
    if (made) answer << made->member;
  }

  Writer wait_split(Reader& message) {
    const Ticket ticket = ticket_in(message);
    return waited([&](Writer& answer) {
      const front::SplitOutcome outcome = control_.wait_split(rank_, ticket, message.get<Location>());
      answer << outcome.start << outcome.end;
      put(answer, outcome.made);
    });
  }

  Writer wait_for_any(Reader& message) {
    const auto group = message.get<std::uint32_t>();
    const auto record = message.get<front::CallRecord>();
    return waited(
        [&](Writer& answer) { answer << control_.wait_for_any(rank_, group, record, message.get<Location>()); });
  }

  Writer wait_to_look(Reader& message) {
    const auto time = message.get<Nanos>();
    return waited([&](Writer&) { control_.wait_to_look(rank_, time, message.get<Location>()); });
  }

  Writer agree(Reader& message) {
    const auto posted = message.get<Nanos>();
    const auto says = message.get<Count>();
    return waited([&](Writer& answer) {
      const front::Agreement agreement = control_.agree(rank_, posted, says, message.get<Location>());
      answer << agreement.time << *agreement.said;
      put(answer, agreement.made);
    });
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
  front::ItemStore& store_;
  bool finished_ = false;
  std::optional<RankReport> report_;
};

}  // namespace

std::unique_ptr<back::Fabric> make_relay_fabric(std::shared_ptr<SharedArena> arena) {
  return std::make_unique<RelayFabric>(std::move(arena));
}

RankReport serve_rank(int rank, Channel& channel, Control& control, front::ItemStore& store) {
  return Server(rank, channel, control, store).run();
}

}  // namespace shardlings::support
