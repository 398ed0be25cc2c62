// The library with MPI in it: the only file that knows MPI's header. One thread at a time calls MPI (SERIALIZED).
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "back/transport/mpi/api.h"

namespace shardlings::back::mpi {
namespace {

/// MPI counts bytes in an int: more of them go in pieces, which arrive in their order.
constexpr std::size_t kLargest = std::size_t{1} << 30U;
constexpr int kControlTag = 0;

/// Messages and bytes of tensors are told apart by their communicator.
class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    MPI_Comm_dup(MPI_COMM_WORLD, &control_);
    MPI_Comm_dup(MPI_COMM_WORLD, &data_);
    MPI_Comm_rank(control_, &process_);
    MPI_Comm_size(control_, &processes_);
  }
  ~MpiTransport() override {
    for (Outgoing& outgoing : outgoing_) MPI_Wait(&outgoing.request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&data_);
    MPI_Comm_free(&control_);
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int process() const override { return process_; }
  int processes() const override { return processes_; }

  void send(int to, std::string_view message) override {
    if (message.size() > kLargest)
      throw std::runtime_error("what one process has to tell another is too large for MPI");
    Outgoing& outgoing = outgoing_.emplace_back();
    outgoing.text = message;
    MPI_Isend(outgoing.text.data(), static_cast<int>(outgoing.text.size()), MPI_BYTE, to, kControlTag, control_,
              &outgoing.request);
  }

  bool receive(int& from, std::string& message) override {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kControlTag, control_, &is_there, &status);
    if (is_there == 0) return false;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    message.resize(static_cast<std::size_t>(size));
    from = status.MPI_SOURCE;
    MPI_Recv(message.data(), size, MPI_BYTE, from, kControlTag, control_, MPI_STATUS_IGNORE);
    return true;
  }

  void start_send(int to, int tag, const void* data, std::size_t size, Transfers& of) override {
    in_pieces(size, of, [&](std::size_t begin, int n) {
      MPI_Isend(static_cast<const char*>(data) + begin, n, MPI_BYTE, to, tag, data_, &requests_.emplace_back());
    });
  }
  void start_receive(int from, int tag, void* data, std::size_t size, Transfers& of) override {
    in_pieces(size, of, [&](std::size_t begin, int n) {
      MPI_Irecv(static_cast<char*>(data) + begin, n, MPI_BYTE, from, tag, data_, &requests_.emplace_back());
    });
  }

  bool poll() override {
    drop_sent();
    if (requests_.empty()) return false;
    int count = 0;
    indices_.resize(requests_.size());
    MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), MPI_STATUSES_IGNORE);
    if (count == MPI_UNDEFINED || count == 0) return false;
    // Who is told may start more: first all is put in order here.
    std::vector<Transfers*> ended;
    for (int i = 0; i < count; ++i)
      ended.push_back(transfers_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])]);
    drop_ended();
    for (Transfers* of : ended) of->remove();
    return true;
  }

  std::size_t under_way() const override { return requests_.size(); }

 private:
  struct Outgoing {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  template <class Start>
  void in_pieces(std::size_t size, Transfers& of, Start start) {
    for (std::size_t begin = 0; begin < size; begin += kLargest) {
      if (begin > 0) of.add();
      transfers_.push_back(&of);
      start(begin, static_cast<int>(std::min(kLargest, size - begin)));
    }
  }

  void drop_ended() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      requests_[kept] = requests_[i];
      transfers_[kept++] = transfers_[i];
    }
    requests_.resize(kept);
    transfers_.resize(kept);
  }

  /// In order: what is behind one that has not gone stays, too.
  void drop_sent() {
    for (int done = 1; !outgoing_.empty(); outgoing_.pop_front()) {
      MPI_Test(&outgoing_.front().request, &done, MPI_STATUS_IGNORE);
      if (done == 0) return;
    }
  }

  MPI_Comm control_ = MPI_COMM_NULL, data_ = MPI_COMM_NULL;
  int process_ = 0, processes_ = 1;
  std::deque<Outgoing> outgoing_;  ///< a message keeps its place until it has gone
  std::vector<MPI_Request> requests_;
  std::vector<Transfers*> transfers_;  ///< of each request
  std::vector<int> indices_;
};

int tag_limit() {
  void* value = nullptr;
  int is_set = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_set);
  return is_set != 0 ? *static_cast<int*>(value) : 32767;
}

class MpiApi final : public Api {
 public:
  std::string version() override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int size = 0;
    MPI_Get_library_version(text.data(), &size);
    const std::string all(text.data(), static_cast<std::size_t>(size));
    // "Open MPI v4.1.4, package: …" and "MPICH Version:\t4.0.2\n…".
    const std::size_t begin = std::min(all.find_first_of("0123456789"), all.size());
    const std::string number = all.substr(begin, all.find_first_not_of("0123456789.", begin) - begin);
    if (all.starts_with("Open MPI")) return "Open MPI " + number;
    if (all.starts_with("MPICH")) return "MPICH " + number;
    return all.substr(0, all.find('\n'));
  }

  std::unique_ptr<Transport> start() override {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    if (provided < MPI_THREAD_SERIALIZED) {
      throw std::runtime_error("this MPI lets only one thread of a process call it, and ranks are threads");
    }
    if (tag_limit() < Transport::kTags - 1) throw std::runtime_error("this MPI has too few tags");
    return std::make_unique<MpiTransport>();
  }

  void finish() override { MPI_Finalize(); }
};

}  // namespace
}  // namespace shardlings::back::mpi

extern "C" [[gnu::visibility("default")]] shardlings::back::mpi::Api* shardlings_mpi_entry_2() {
  static shardlings::back::mpi::MpiApi api;
  return &api;
}
