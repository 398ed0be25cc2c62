// NCCL and the CUDA runtime behind api.h: the only file that knows their headers.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "back/fabric/nccl/api.h"
#include "shardlings/export.h"

namespace shardlings::back::nccl {
namespace {

ncclComm_t native(Comm comm) {
  return static_cast<ncclComm_t>(comm);
}
cudaStream_t native_queue(Queue queue) {
  return static_cast<cudaStream_t>(queue);
}
cudaEvent_t native_event(Event event) {
  return static_cast<cudaEvent_t>(event);
}

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")");
}

std::string describe(ncclResult_t result, const char* call, ncclComm_t comm) {
  const char* last = ncclGetLastError(comm);
  std::string text = std::string(call) + ": " + ncclGetErrorString(result);
  if (last != nullptr && last[0] != '\0') text += std::string(" (") + last + ")";
  return text;
}

/// In progress is no error: communicators do not block, and state() tells when they are ready.
void check(ncclResult_t result, const char* call, ncclComm_t comm = nullptr) {
  if (result != ncclSuccess && result != ncclInProgress) throw std::runtime_error(describe(result, call, comm));
}

/// Makes a GPU the current one of this thread, and afterwards the one that was.
class OnGpu {
 public:
  explicit OnGpu(int gpu) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (gpu != before_) check(cudaSetDevice(gpu), "cudaSetDevice");
  }
  ~OnGpu() { cudaSetDevice(before_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

 private:
  int before_ = 0;
};

/// A group of calls; closed even if one of them throws, since NCCL would collect calls for ever.
class Group {
 public:
  Group() { check(ncclGroupStart(), "ncclGroupStart"); }
  ~Group() {
    if (!closed_) ncclGroupEnd();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void close() {
    closed_ = true;
    check(ncclGroupEnd(), "ncclGroupEnd");
  }

 private:
  bool closed_ = false;
};

ncclDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return ncclFloat32;
    case DType::bf16: return ncclBfloat16;
    case DType::i32: return ncclInt32;
    case DType::e4m3:
    case DType::e8m0: return ncclUint8;  // bytes to copy; the largest scale has the largest code
  }
  throw std::runtime_error("NCCL knows no such type");
}

ncclRedOp_t operator_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return ncclSum;
    case ReduceOp::max: return ncclMax;
    case ReduceOp::min: return ncclMin;
    case ReduceOp::mean: break;  // made of a sum, see schedule.h
  }
  throw std::runtime_error("NCCL knows no such operator");
}

ncclResult_t call(const Call& c, ncclComm_t comm, cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(c.count);
  const ncclDataType_t type = type_of(c.dtype);
  switch (c.what) {
    case Call::What::all_reduce: return ncclAllReduce(c.in, c.out, count, type, operator_of(c.op), comm, stream);
    case Call::What::reduce_scatter:
      return ncclReduceScatter(c.in, c.out, count, type, operator_of(c.op), comm, stream);
    case Call::What::all_gather: return ncclAllGather(c.in, c.out, count, type, comm, stream);
    case Call::What::broadcast: return ncclBroadcast(c.in, c.out, count, type, c.peer, comm, stream);
    case Call::What::reduce: return ncclReduce(c.in, c.out, count, type, operator_of(c.op), c.peer, comm, stream);
    case Call::What::send: return ncclSend(c.in, count, type, c.peer, comm, stream);
    case Call::What::recv: return ncclRecv(c.out, count, type, c.peer, comm, stream);
  }
  return ncclInvalidArgument;
}

class RealApi final : public Api {
 public:
  /// Between GPUs of one process NCCL would read and write the ranks' tensors directly. Their memory comes from
  /// stream-ordered pools, which other GPUs cannot reach unless each pool is opened to each of them.
  RealApi() { setenv("NCCL_P2P_DIRECT_DISABLE", "1", 0); }

  std::string version() override {
    int code = 0;
    check(ncclGetVersion(&code), "ncclGetVersion");
    return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." + std::to_string(code % 100);
  }

  Queue make_queue(int gpu) override {
    const OnGpu here(gpu);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return stream;
  }
  void free_queue(int, Queue queue) noexcept override { cudaStreamDestroy(native_queue(queue)); }

  Event make_event(int gpu) override {
    const OnGpu here(gpu);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    return event;
  }
  void free_event(int, Event event) noexcept override { cudaEventDestroy(native_event(event)); }

  void record(int gpu, Event event, Queue queue) override {
    const OnGpu here(gpu);
    check(cudaEventRecord(native_event(event), native_queue(queue)), "cudaEventRecord");
  }
  void wait(int gpu, Queue queue, Event event) override {
    const OnGpu here(gpu);
    check(cudaStreamWaitEvent(native_queue(queue), native_event(event), 0), "cudaStreamWaitEvent");
  }
  bool reached(Event event) override {
    const cudaError_t state = cudaEventQuery(native_event(event));
    if (state == cudaErrorNotReady) cudaGetLastError();
    return state != cudaErrorNotReady;  // a GPU that has failed gets nowhere else: others report why
  }

  std::vector<Comm> make_root(int gpus) override {
    ncclUniqueId id;
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    ncclConfig_t config = non_blocking();
    std::vector<ncclComm_t> ends(static_cast<std::size_t>(gpus));
    Group group;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const OnGpu here(gpu);
      check(ncclCommInitRankConfig(&ends[static_cast<std::size_t>(gpu)], gpus, id, gpu, &config),
            "ncclCommInitRankConfig");
    }
    group.close();
    return {ends.begin(), ends.end()};
  }

  std::vector<Comm> split(std::span<const Comm> root, std::span<const int> members, int channels) override {
    ncclConfig_t config = non_blocking();
    if (channels > 0) config.maxCTAs = channels;
    std::vector<ncclComm_t> of_gpu(root.size());
    Group group;
    for (std::size_t gpu = 0; gpu < root.size(); ++gpu) {
      const OnGpu here(static_cast<int>(gpu));
      int key = NCCL_SPLIT_NOCOLOR;
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (members[m] == static_cast<int>(gpu)) key = static_cast<int>(m);
      }
      const int colour = key == NCCL_SPLIT_NOCOLOR ? NCCL_SPLIT_NOCOLOR : 0;
      check(ncclCommSplit(native(root[gpu]), colour, key, &of_gpu[gpu], &config), "ncclCommSplit", native(root[gpu]));
    }
    group.close();
    std::vector<Comm> ends;
    for (const int gpu : members) ends.push_back(of_gpu[static_cast<std::size_t>(gpu)]);
    return ends;
  }

  void issue(std::span<const Issue> issues) override {
    Group group;
    for (const Issue& issue : issues) {
      const OnGpu here(issue.gpu);
      for (const Call& c : issue.calls) {
        check(call(c, native(issue.comm), native_queue(issue.queue)), "NCCL", native(issue.comm));
      }
    }
    group.close();
  }

  State state(Comm comm, std::string& error) override {
    ncclResult_t result = ncclSuccess;
    const ncclResult_t asked = ncclCommGetAsyncError(native(comm), &result);
    if (asked != ncclSuccess) result = asked;
    if (result == ncclSuccess) return State::ready;
    if (result == ncclInProgress) return State::in_progress;
    error = describe(result, "a communicator has failed", native(comm));
    return State::failed;
  }

  void abort(Comm comm) noexcept override { ncclCommAbort(native(comm)); }

  /// An end is quiet when all are: first all are told, then each is awaited, and given up if that takes too long.
  void destroy(std::span<const Comm> ends) noexcept override {
    constexpr std::chrono::seconds kMost{10};
    for (const Comm end : ends) ncclCommFinalize(native(end));
    const auto begin = std::chrono::steady_clock::now();
    for (const Comm end : ends) {
      ncclResult_t result = ncclInProgress;
      while (result == ncclInProgress && std::chrono::steady_clock::now() - begin < kMost) {
        if (ncclCommGetAsyncError(native(end), &result) != ncclSuccess) break;
        std::this_thread::yield();
      }
      result == ncclSuccess ? ncclCommDestroy(native(end)) : ncclCommAbort(native(end));
    }
  }

 private:
  static ncclConfig_t non_blocking() {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    return config;
  }
};

}  // namespace
}  // namespace shardlings::back::nccl

extern "C" SHARDLINGS_API shardlings::back::nccl::Api* shardlings_nccl_api();
extern "C" shardlings::back::nccl::Api* shardlings_nccl_api() {
  static shardlings::back::nccl::RealApi api;
  return &api;
}
