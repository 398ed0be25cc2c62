#include "base/text.h"
#include "front/ops/op.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;

// What is looked at is never counted: neither bytes nor memory, no operation and no time.
Reply handle::show(OpContext& of, const Call& call) {
  const unpacked::show given(call);
  const Operand x = of.memory.find(call, {.index = given.x.index});
  if (!of.rank.device().computes()) return {};  // there is nothing to see
  Shows& shows = of.rank.shows();
  if (shows.kept.size() >= Shows::kMost) {
    ++shows.left_out;
    return {};
  }
  Shown shown;
  const Location at = of.rank.place(call);
  shown.label = std::string(of.rank.texts().text(given.label)).substr(0, Shown::kLongestLabel);
  shown.file = std::string(base_name(at.file)).substr(0, Shown::kLongestFile);
  shown.line = at.line;
  shown.there = static_cast<bool>(x);
  if (x) {
    shown.shape = x.shape();
    shown.dtype = x.dtype();
    shown.kind = x.kind;
    shown.memory = x.memory;
    shown.layer = x.label.layer;
    shown.micro = x.label.micro;
    look_at(of.memory.download(x), shown);
  }
  shows.kept.push_back(std::move(shown));
  return {};
}

}  // namespace shardlings::front
