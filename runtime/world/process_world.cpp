#include "world/process_world.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "back/fabric/between_processes.h"
#include "base/machine_fault.h"
#include "base/parts.h"
#include "front/rank_front.h"
#include "front/remote/control_server.h"
#include "front/remote/messages.h"
#include "front/remote/remote_control.h"
#include "front/remote/remote_store.h"
#include "front/store/shared_store.h"
#include "world/closing.h"
#include "world/run_rank.h"

namespace shardlings::world {

using front::RankFront;
using front::RunReport;
using front::remote::Reader;
using front::remote::Writer;

namespace {

/// What processes tell one another of a run beside their control plane's words.
enum class Word : std::uint8_t {
  report,  ///< to process 0: a rank, and its report
  done,    ///< to process 0: that was all of this process, its number, and the machine fault that it has had
  fault,   ///< to process 0: the run cannot go on, why, and whether that is for want of memory; no call has failed
  closed   ///< from process 0: it has everything, and the next run may begin
};

/// One process's part in a run.
class ProcessRun {
 public:
  explicit ProcessRun(const Options& options)
      : options_(options),
        progress_(*options.progress),
        own_(ranks_of_process(options.ranks, progress_.processes(), progress_.process())),
        fabric_(back::make_process_fabric(progress_)) {
    report_.ranks.resize(static_cast<std::size_t>(options.ranks));
    done_.resize(static_cast<std::size_t>(progress_.processes()));
  }

  RunReport run(const std::function<void(Rank&)>& body) {
    const bool is_first = progress_.process() == 0;
    std::optional<front::ControlServer> server;
    front::SharedStore store(is_first && options_.make_store ? options_.make_store() : nullptr);
    std::optional<front::StoreServer> store_server;
    if (is_first) {
      server.emplace(progress_, setting());
      store_server.emplace(progress_, store);
      server_ = &*server;
    }
    const Listening listening(*this);
    front::RemoteControl control(progress_, *fabric_, options_.ranks, options_.cluster, own_, options_.black_box);
    front::RemoteStore items(progress_);
    run_own(control, items, body);
    control.await_end();
    close_own(control);
    if (!is_first) send_own();
    send_done();
    if (!is_first) {
      progress_.wait_until([&] { return closed_; });
      return std::move(report_);
    }
    progress_.wait_until([&] { return has_all(*server); });
    align_measured_times(report_);
    if (const auto failure = server->failure()) report_.failure = failure;
    if (!report_.failure) report_.failure = store.race();
    progress_.locked([&] {
      send_closed(*server);
      stop_listening();
    });
    return std::move(report_);
  }

 private:
  /// Until it ends, however that is, messages are heard that are about this run.
  class Listening {
   public:
    explicit Listening(ProcessRun& run) : run_(run) {
      run_.progress_.on(back::Channel::world, [this](int, std::string_view message) { run_.hear(message); });
      run_.progress_.on(back::Channel::gone, [this](int, std::string_view message) { run_.hear_gone(message); });
      run_.progress_.on_fault([this](const back::Fault& fault) { run_.tell_fault(fault); });
    }
    ~Listening() {
      run_.progress_.on_fault({});
      run_.progress_.locked([&] { run_.stop_listening(); });
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

   private:
    ProcessRun& run_;
  };

  front::ControlServer::Setting setting() const {
    const int ranks = options_.ranks, processes = progress_.processes();
    const auto detection = options_.deaths.empty() ? std::nullopt : std::optional(options_.detection);
    return {ranks,           &options_.cluster, options_.black_box,
            options_.checks, detection,         [=](int rank) { return process_of_rank(ranks, processes, rank); }};
  }

  void run_own(front::RemoteControl& control, front::ItemStore& items, const std::function<void(Rank&)>& body) {
    for (Count rank = own_.begin; rank < own_.end; ++rank) {
      const int r = static_cast<int>(rank);
      auto device = options_.make_device ? options_.make_device(r) : back::make_cpu_device();
      fronts_.push_back(std::make_unique<RankFront>(options_, r, std::move(device), control, items));
    }
    if (fronts_.empty()) return;
    const auto engine = back::make_threads_engine();
    engine->run(static_cast<int>(own_.size()), [&](int i) {
      const auto rank = static_cast<std::size_t>(own_.begin + i);
      report_.ranks[rank] = run_rank(*fronts_[static_cast<std::size_t>(i)], control, body);
    });
  }

  void close_own(const front::RemoteControl& control) {
    for (const auto& front : fronts_) {
      if (!control.has_failed()) front->rest();
    }
    for (std::size_t i = 0; i < fronts_.size() && control.has_failed(); ++i) {
      fronts_[i]->add_in_flight(report_.ranks[static_cast<std::size_t>(own_.begin) + i].trace);
    }
    RunReport closing;
    await_devices(fronts_, closing);
    progress_.locked([&] {
      if (!report_.failure) report_.failure = closing.failure;
    });
    fronts_.clear();
  }

  void send_own() {
    for (Count rank = own_.begin; rank < own_.end; ++rank) {
      Writer message;
      message << Word::report << static_cast<int>(rank) << report_.failure
              << report_.ranks[static_cast<std::size_t>(rank)];
      progress_.locked([&] { progress_.send(0, back::Channel::world, message.bytes()); });
    }
  }

  /// The last word of every process, the first one included: what it has sent before has been heard then.
  void send_done() {
    Writer message;
    message << Word::done << progress_.process() << first_machine_fault();
    progress_.locked([&] { progress_.send(0, back::Channel::world, message.bytes()); });
  }

  /// Nobody has called what has failed, so it is the first process that ends the run.
  void tell_fault(const back::Fault& fault) {
    Writer message;
    message << Word::fault << fault.what << fault.no_memory;
    progress_.send(0, back::Channel::world, message.bytes());
  }

  void hear(std::string_view bytes) {
    Reader message(bytes);
    switch (message.get<Word>()) {
      case Word::report: return hear_report(message);
      case Word::done: {
        done_.at(static_cast<std::size_t>(message.get<int>())) = true;
        return note_machine_fault(message.get<std::string>());
      }
      case Word::fault: return hear_fault(message);
      case Word::closed: closed_ = true; return stop_listening();
    }
  }

  /// What comes from now on is of the next run.
  void stop_listening() {
    for (const auto channel : {back::Channel::server, back::Channel::ranks, back::Channel::world, back::Channel::store,
                               back::Channel::items, back::Channel::gone}) {
      progress_.listen(channel, {});
    }
  }

  void hear_gone(std::string_view bytes) {
    Reader message(bytes);
    const int process = message.get<int>();
    if (process == 0) std::_Exit(1);  // nobody is left who could say how the run goes on, or take a report
    if (server_ != nullptr) server_->process_gone(process, message.get<std::string>());
  }

  /// Where a transfer was broken off, others may wait for the rest of it for ever: so it is told before the run's end.
  void hear_fault(Reader& message) {
    back::Fault fault;
    message >> fault.what >> fault.no_memory;
    if (!fault.no_memory) note_machine_fault(fault.what);
    if (options_.on_fault) options_.on_fault(fault);
    if (server_ != nullptr) server_->fail(fault);
  }

  void hear_report(Reader& message) {
    const auto rank = static_cast<std::size_t>(message.get<int>());
    const auto failure = message.get<std::optional<front::Failure>>();  // of its device
    if (!report_.failure) report_.failure = failure;
    message >> report_.ranks.at(rank);
  }

  bool has_all(const front::ControlServer& server) const {
    for (int process = 0; process < progress_.processes(); ++process) {
      if (!done_[static_cast<std::size_t>(process)] && !server.is_gone(process)) return false;
    }
    return true;
  }

  void send_closed(const front::ControlServer& server) {
    Writer message;
    message << Word::closed;
    for (int process = 1; process < progress_.processes(); ++process) {
      if (!server.is_gone(process)) progress_.send(process, back::Channel::world, message.bytes());
    }
  }

  const Options& options_;
  back::Progress& progress_;
  const Range own_;
  const std::unique_ptr<back::Fabric> fabric_;
  std::vector<std::unique_ptr<RankFront>> fronts_;
  front::ControlServer* server_ = nullptr;  ///< of the first process; set before anybody listens
  RunReport report_;                        ///< but for own ranks under the lock, as what is below
  std::vector<bool> done_;                  ///< by process
  bool closed_ = false;
};

}  // namespace

Range ranks_of_process(int ranks, int processes, int process) {
  return part_of(ranks, processes, process);
}

int process_of_rank(int ranks, int processes, int rank) {
  int process = 0;
  while (part_of(ranks, processes, process).end <= rank) ++process;
  return process;
}

RunReport run_in_processes(const Options& options, const std::function<void(Rank&)>& body) {
  if (options.folded_replicas > 0) throw std::runtime_error("a folded run has all of its ranks in one process");
  constexpr int kMost = 64;  // that an exchange can tell apart (back/fabric/between_processes/exchange.cpp)
  if (ranks_of_process(options.ranks, options.progress->processes(), 0).size() > kMost) {
    throw std::runtime_error("a process has at most 64 ranks: start more processes");
  }
  return ProcessRun(options).run(body);
}

std::string gone_message(int process, const std::string& why) {
  Writer message;
  message << process << why;
  return message.bytes();
}

std::string from_first(back::Progress& progress, const std::string& text) {
  if (progress.process() != 0) return progress.next(back::Channel::sharing);
  progress.locked([&] {
    for (int process = 1; process < progress.processes(); ++process) {
      progress.send(process, back::Channel::sharing, text);
    }
  });
  return text;
}

}  // namespace shardlings::world
