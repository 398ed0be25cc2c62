#include "front/store/rank_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "api/arguments.h"
#include "api/verbs.h"
#include "base/dtype.h"
#include "base/text.h"
#include "shardlings/store.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;
namespace unpacked = detail::unpacked;

namespace {

constexpr Bytes kNumber(sizeof(Count));

constexpr std::size_t kLongestName = 64;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

Reply reply_of(Count number) {
  Reply reply;
  reply.id = static_cast<std::uint64_t>(number);
  return reply;
}

/// "it is torn: rank 2 began to write it at puzzle.cpp:31, and died before the end".
std::string why_missing(const ItemState& found) {
  if (found.state == ItemState::State::none) return "there is none";
  return fmt::format("it is torn: rank {} began to write it at {}, and {}", found.rank, text_of(found.at),
                     found.died ? "died before the end" : "had not come to the end");
}

}  // namespace

std::pair<std::string, std::string> RankStore::names_in(const Call& call) const {
  const std::string text = rank_.texts().text(call.text);
  const std::size_t slash = std::min(text.rfind('/'), text.size());
  const std::pair<std::string, std::string> names{text.substr(0, slash), text.substr(std::min(slash + 1, text.size()))};
  for (const std::string& name : {names.first, names.second}) {
    if (is_name(name)) continue;
    rank_.invalid(call, fmt::format("{}: '{}' is no name: letters, digits, '-' and '_' only, 1 to {} of them",
                                    name_of(call.verb), name, kLongestName));
  }
  return names;
}

ItemName RankStore::name_in(const Call& call, int first, int second) const {
  auto [folder, item] = names_in(call);
  for (const int number : {first, second}) {
    if (number >= 0) item += fmt::format(".{}", number);
  }
  return {std::move(folder), std::move(item)};
}

SourcePlace RankStore::place_of(const Call& call) const {
  const Location at = rank_.place(call);
  return {std::string(base_name(at.file)), at.line};
}

Content RankStore::content_of(const Operand& data) {
  Content content{data.dtype(), data.size(), nullptr, std::nullopt};
  if (!rank_.device().computes()) return content;
  std::vector<std::byte> bytes(static_cast<std::size_t>(data.bytes().value()));
  if (!bytes.empty()) rank_.device().download(bytes.data(), data.data, data.bytes());
  content.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return content;
}

// What the rank dies before the end of is torn; what it would only begin after its death was never there.
void RankStore::write_down(const Call& call, const ItemName& name, const Content& content, Times times) {
  rank_.doom().note_write(times.start, times.end, rank_.now());
  const std::optional<Nanos> dies = rank_.doom().at();
  if (dies && times.start >= *dies) return;
  const std::optional<Nanos> torn = dies && times.end > *dies ? dies : std::nullopt;
  store_.write({name, content, times.start, times.end, torn, rank_.id(), place_of(call)});
}

Reply RankStore::write(const Call& call) {
  const unpacked::store_write given(call);
  const ItemName name = name_in(call, given.first, given.second);
  const std::vector<std::uint64_t> before = lanes_.chain(call.id);
  const Operand data = memory_.find(call, {given.data.index, false, before, call.blocking == 0});
  if (!data) rank_.invalid(call, "store.write: `data` is empty (moved from, or never allocated)");
  lanes_.check_comes_after(call);
  const Bytes size = rank_.costs().weight(data.size(), data.dtype(), data.kind);
  Copies& written = counted(StoreAccess::write);
  ++written.calls;
  written.bytes += size;
  StoreJob job;
  if (call.blocking == 0) job.uses = {{data, false}};
  job.bytes = size;
  job.duration = rank_.costs().store(size);
  job.label = data.label;
  job.text = fmt::format("{} {} to {}", data.size(), shardlings::name_of(data.dtype()), text_of(name));
  job.effect = [this, call, name, data](Times times) { write_down(call, name, content_of(data), times); };
  return lanes_.access(call, std::move(job));
}

Reply RankStore::write_number(const Call& call) {
  const unpacked::store_write_number given(call);
  const ItemName name = name_in(call, given.first, given.second);
  Content content;
  content.number = static_cast<Count>(given.value);
  Copies& written = counted(StoreAccess::write);
  ++written.calls;
  written.bytes += kNumber;
  StoreJob job;
  job.bytes = kNumber;
  job.duration = rank_.costs().store(kNumber);
  job.text = fmt::format("a number to {}", text_of(name));
  job.effect = [this, call, name, content](Times times) { write_down(call, name, content, times); };
  return lanes_.access(call, std::move(job));
}

ItemState RankStore::look(const Call& call, const ItemName& name) {
  wait_to_look_(rank_.now(), rank_.place(call));
  return store_.look(rank_.now(), name);
}

void RankStore::check_read(const Call& call, const ItemName& name, const ItemState& found, Range wanted, DType dtype) {
  const auto refuse = [&](const std::string& why) {
    rank_.invalid(call, fmt::format("store.read: {}: {}", text_of(name), why));
  };
  if (found.state != ItemState::State::whole) refuse(why_missing(found));
  const Content& content = found.content;
  if (content.number) refuse("it is a number, which read_number reads");
  if (content.dtype != dtype) {
    refuse(fmt::format("it has elements of {}, and `data` of {}", shardlings::name_of(content.dtype),
                       shardlings::name_of(dtype)));
  }
  if (wanted.begin < 0 || wanted.end > content.count) {
    refuse(fmt::format("elements [{}, {}) are wanted, and it has {}", wanted.begin, wanted.end, content.count));
  }
}

// What is there is decided at the call, so the elements can be in their place at once; the program may not look at them
// before it has waited.
Reply RankStore::read(const Call& call) {
  const unpacked::store_read given(call);
  const ItemName name = name_in(call, given.first, given.second);
  const Operand data = memory_.find(call, {.index = given.data.index, .writes = true});
  if (!data) rank_.invalid(call, "store.read: `data` is empty (moved from, or never allocated)");
  const ItemState found = look(call, name);
  check_read(call, name, found, {given.from, given.from + data.size()}, data.dtype());
  if (found.content.bytes && data.size() > 0) {
    const std::byte* from = found.content.bytes->data() + given.from * size_of(data.dtype());
    rank_.device().upload(data.data, from, data.bytes());
  }
  const Bytes size = rank_.costs().weight(data.size(), data.dtype(), data.kind);
  Copies& counts = counted(StoreAccess::read);
  ++counts.calls;
  counts.bytes += size;
  StoreJob job;
  if (call.blocking == 0) job.uses = {{data, true}};
  job.bytes = size;
  job.duration = rank_.costs().store(size);
  job.label = data.label;
  job.text = fmt::format("{} {} of {}", data.size(), shardlings::name_of(data.dtype()), text_of(name));
  job.effect = [](Times) {};
  return lanes_.access(call, std::move(job));
}

void RankStore::pass_latency(const Call& call) {
  const Nanos now = rank_.now(), latency = rank_.costs().store_latency();
  rank_.counters().waited_for_store += latency;
  rank_.stand_still_until(now + latency);
  if (!rank_.trace().enabled()) return;
  Event event;
  event.name = rank_.trace().name(name_of(call.verb));
  event.order = rank_.calls().order();
  event.end = now + latency;
  event.live_after = rank_.live();
  rank_.trace().add(waiting(event, now, rank_.place(call)));
}

Reply RankStore::size(const Call& call) {
  const unpacked::store_size given(call);
  const ItemState found = look(call, name_in(call, given.first, given.second));
  pass_latency(call);
  const bool is_tensor = found.state == ItemState::State::whole && !found.content.number;
  return reply_of(is_tensor ? found.content.count : kNoItem);
}

Reply RankStore::read_number(const Call& call) {
  const unpacked::store_read_number given(call);
  const ItemState found = look(call, name_in(call, given.first, given.second));
  pass_latency(call);
  return reply_of(found.state == ItemState::State::whole ? found.content.number.value_or(kNoItem) : kNoItem);
}

Reply RankStore::publish(const Call& call) {
  const auto [folder, as] = names_in(call);
  ++rank_.counters().renames;
  StoreJob job;
  job.duration = rank_.costs().store_latency();
  job.text = fmt::format("{} as {}", folder, as);
  job.effect = [this, call, from = folder, to = as](Times times) {
    wait_to_look_(times.start, rank_.place(call));
    if (!store_.has_folder(times.start, from)) {
      rank_.invalid(call, fmt::format("store.publish: there is no folder {}", from));
    }
    const std::optional<Nanos> dies = rank_.doom().at();
    if (!dies || times.end <= *dies) store_.rename({from, to, times.end, rank_.id()});
  };
  return lanes_.access(call, std::move(job));
}

void RankStore::give(const ItemName& name, Count count, const std::byte* values) {
  Content content{DType::f32, count, nullptr, std::nullopt};
  if (values != nullptr) {
    const auto size = static_cast<std::size_t>(count) * sizeof(float);
    content.bytes = std::make_shared<const std::vector<std::byte>>(values, values + size);
  }
  store_.give(name, content);
}

}  // namespace shardlings::front
