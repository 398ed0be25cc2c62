#include "front/rank/rank_context.h"

#include <fmt/format.h>

#include "base/text.h"

namespace shardlings::front {

RankContext::RankContext(const RankOptions& options, int rank, std::unique_ptr<back::Device> device,
                         std::function<bool()> aborted)
    : options_(options),
      id_(rank),
      device_(std::move(device)),
      costs_(options.cluster),
      aborted_(std::move(aborted)),
      calls_(options.black_box ? &options.black_box->entries[rank] : nullptr),
      trace_(options.trace) {
  if (trace_.enabled()) device_->start_measuring();
}

void RankContext::advance_to(Nanos time) {
  if (time > now_) now_ = time;
}

void RankContext::restart() {
  counters_ = {};
  now_ = Nanos(0);
  trace_.restart();
  if (trace_.enabled()) device_->start_measuring();
}

void RankContext::invalid(const detail::Call& call, const std::string& sentence) const {
  const Location at = place(call);
  throw InvalidArgument(fmt::format("{}: rank {}: {}", to_text(at), id_, sentence).c_str(), at);
}

void RankContext::defer(Misuse misuse, const std::string& sentence, Location at) {
  defer(std::make_exception_ptr(MisuseError(misuse, sentence.c_str(), at)));
}

void RankContext::throw_deferred() {
  if (deferred_) std::rethrow_exception(std::exchange(deferred_, nullptr));
}

}  // namespace shardlings::front
