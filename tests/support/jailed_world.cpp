#include "support/jailed_world.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <system_error>

#include "api/access.h"
#include "api/port_server.h"
#include "base/rights.h"
#include "boundary/archive.h"
#include "boundary/mailbox.h"
#include "boundary/thrown.h"
#include "support/child_failures.h"

namespace shardlings::support {
namespace {

using boundary::Kept;
using boundary::Mailbox;
using boundary::Receiver;
using boundary::Sender;
using boundary::Side;
using boundary::Topic;
using detail::PortServer;

// What the harness's side of a port says beside calls. Data travel in pieces that fit a mailbox.
enum class Ask : std::uint32_t { lend_piece = 100, lend_values, lend_structure, values_of, values_piece, now, answer };
constexpr Topic topic_of(Ask ask) {
  return static_cast<Topic>(ask);
}
constexpr std::size_t kPiece = std::size_t{1} << 18U;

/// The near side, in the rank's process.
class FarPort final : public detail::HarnessPort {
 public:
  explicit FarPort(Mailbox& mailbox) : mailbox_(mailbox) {}

  detail::HarnessPort* harness() override { return this; }
  std::uint64_t lend(std::span<const std::byte> values) override {
    for (std::size_t at = 0; at < values.size(); at += kPiece) {
      const auto piece = values.subspan(at, std::min(kPiece, values.size() - at));
      ask(topic_of(Ask::lend_piece), {reinterpret_cast<const char*>(piece.data()), piece.size()});
    }
    ask(topic_of(Ask::lend_values), {});
    return mailbox_.plain<std::uint64_t>();
  }
  std::uint64_t lend(std::shared_ptr<const model::ModelStructure> structure) override {
    Sender sender;
    sender(*structure);
    ask(topic_of(Ask::lend_structure), sender.take());
    return mailbox_.plain<std::uint64_t>();
  }
  std::vector<float> values_of(const detail::Ref& ref) override {
    mailbox_.post_plain(topic_of(Ask::values_of), ref);
    await();
    const auto count = mailbox_.plain<std::uint64_t>();
    std::string bytes;
    while (bytes.size() < count * sizeof(float)) {
      ask(topic_of(Ask::values_piece), {});
      bytes += mailbox_.bytes();
    }
    std::vector<float> values(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  void check(const detail::Ref&) const override {}
  bool measures() const override { return true; }
  Nanos now() const override {
    mailbox_.post(topic_of(Ask::now), {});
    await();
    return Nanos(mailbox_.plain<std::int64_t>());
  }

 private:
  void await() const {
    if (!mailbox_.await()) _exit(1);
  }
  void ask(Topic topic, std::string_view bytes) {
    mailbox_.post(topic, bytes);
    await();
  }
  detail::Reply answer(const detail::Call& call) override {
    mailbox_.post_plain(Topic::call, call);
    await();
    return mailbox_.plain<detail::Reply>();
  }
  detail::TextId define(std::string_view text) override {
    ask(Topic::define, text);
    return mailbox_.plain<detail::TextId>();
  }
  std::string text_of(detail::TextId id) override {
    mailbox_.post_plain(Topic::text_of, id);
    await();
    return mailbox_.bytes();
  }
  std::string error_text() override {
    ask(Topic::error_text, {});
    return mailbox_.bytes();
  }

  Mailbox& mailbox_;
};

/// The far side, on the rank's thread: answers until the rank's code has come to its end.
class JailServer {
 public:
  /// \param files keeps the names of files that errors carry: those errors outlive the server.
  JailServer(void* memory, Rank& rank, std::deque<std::string>& files)
      : mailbox_(memory, Side::broker), port_(*detail::Access::port(rank)->harness()), files_(files) {}

  void serve() {
    try {
      answer_all();
    } catch (...) {
      mailbox_.abandon();  // the rank's process has nobody to wait for
      throw;
    }
  }

 private:
  void answer_all() {
    mailbox_.post(Topic::invoke, {});
    while (mailbox_.await()) {
      if (mailbox_.topic() == Topic::returned) return;
      if (mailbox_.topic() == Topic::threw) rethrow();
      answer();
    }
    throw std::runtime_error("the rank's process is gone");
  }
  void rethrow() {
    const std::string bytes = mailbox_.bytes();
    Receiver receiver(bytes, nullptr, kept_);
    throw_again(boundary::receive_thrown(receiver), files_);
  }
  void answer() {
    switch (mailbox_.topic()) {
      case Topic::call:
        return mailbox_.post_plain(Topic::reply, PortServer::answer(port_, mailbox_.plain<detail::Call>()));
      case Topic::define: return mailbox_.post_plain(Topic::text_id, PortServer::define(port_, mailbox_.bytes()));
      case Topic::text_of:
        return mailbox_.post(Topic::text, PortServer::text_of(port_, mailbox_.plain<detail::TextId>()));
      case Topic::error_text: return mailbox_.post(Topic::text, PortServer::error_text(port_));
      default: return answer_harness();
    }
  }
  void answer_harness() {
    switch (static_cast<Ask>(mailbox_.topic())) {
      case Ask::lend_piece: coming_ += mailbox_.bytes(); return mailbox_.post(topic_of(Ask::answer), {});
      case Ask::lend_values:
        lent_ = std::exchange(coming_, {});
        return mailbox_.post_plain(topic_of(Ask::answer), port_.lend(std::as_bytes(std::span(lent_))));
      case Ask::lend_structure: {
        const std::string bytes = mailbox_.bytes();
        Receiver receiver(bytes, nullptr, kept_);
        auto structure = std::make_shared<model::ModelStructure>();
        receiver(*structure);
        return mailbox_.post_plain(topic_of(Ask::answer), port_.lend(std::move(structure)));
      }
      case Ask::values_of:
        values_ = port_.values_of(mailbox_.plain<detail::Ref>());
        given_ = 0;
        return mailbox_.post_plain(topic_of(Ask::answer), std::uint64_t{values_.size()});
      case Ask::values_piece: {
        const std::string_view all(reinterpret_cast<const char*>(values_.data()), values_.size() * sizeof(float));
        const std::string_view piece = all.substr(given_, kPiece);
        given_ += piece.size();
        return mailbox_.post(topic_of(Ask::answer), piece);
      }
      default: return mailbox_.post_plain(topic_of(Ask::answer), port_.now().value());
    }
  }

  Mailbox mailbox_;
  detail::HarnessPort& port_;
  Kept kept_;
  std::deque<std::string>& files_;
  std::string coming_, lent_;
  std::vector<float> values_;
  std::size_t given_ = 0;
};

/// The whole life of a rank's process.
[[noreturn]] void run_process(void* memory, int rank, int ranks, const std::function<void(Rank&)>& body) {
  die_with_parent();
  Mailbox mailbox(memory, Side::jail);
  FarPort port(mailbox);
  if (!mailbox.await()) _exit(1);
  try {
    Rank own = detail::Access::rank(&port, detail::Access::group(&port, 0, rank, ranks));
    body(own);
    mailbox.post(Topic::returned, {});
  } catch (...) {
    Sender sender;
    send(sender, boundary::thrown_now());
    mailbox.post(Topic::threw, sender.take());
  }
  _exit(0);
}

}  // namespace

front::RunReport run_jailed_world(const world::Options& options, const std::function<void(Rank&)>& body) {
  const std::size_t bytes = Mailbox::kBytes * static_cast<std::size_t>(options.ranks);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  const auto of = [&](int rank) {
    return static_cast<char*>(memory) + Mailbox::kBytes * static_cast<std::size_t>(rank);
  };
  const ChildFailures failures;
  std::vector<pid_t> children;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
      failures.leave_here();
      run_process(of(rank), rank, options.ranks, body);
    }
    children.push_back(child);
  }
  std::vector<std::deque<std::string>> files(static_cast<std::size_t>(options.ranks));
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    JailServer(of(rank.id()), rank, files[static_cast<std::size_t>(rank.id())]).serve();
  });
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  failures.repeat();
  munmap(memory, bytes);
  return report;
}

}  // namespace shardlings::support
