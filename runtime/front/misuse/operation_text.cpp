#include "front/misuse/operation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace shardlings::front {

using back::Collective;

namespace {

// "gather, giving 3 f32 to root 0": what a rank other than the root calls.
std::string part_text(const back::Signature& signature) {
  const bool gives = signature.kind == Collective::gather;
  return fmt::format("{}, {} {} {} {} root {}", back::name_of(signature.kind), gives ? "giving" : "taking",
                     -signature.count, name_of(signature.dtype), gives ? "to" : "from", signature.root);
}

// " (micro-batch 3, layer 2)": what a message carries, as far as its sender knows; a receiver learns it only by it.
std::string load_text(const CallRecord& record, int member) {
  const Label& label = record.label;
  if (member == kReceiver || label.micro < 0) return "";
  return label.layer < 0 ? fmt::format(" (micro-batch {})", label.micro)
                         : fmt::format(" (micro-batch {}, layer {})", label.micro, label.layer);
}

// "split of color 0, named "tp""; nothing to add to other calls.
std::string split_text(const CallRecord& record) {
  if (record.signature.kind != Collective::split || record.color == kNobody) return "";
  return fmt::format(" of color {}, {}", record.color,
                     record.name.empty() ? "without a name" : fmt::format("named \"{}\"", record.name));
}

}  // namespace

std::string message_verb(const CallRecord& record, int member) {
  if (record.from_any) return "recv_any";
  return std::string(member == kReceiver ? "recv" : "send") + (record.is_async ? "_async" : "");
}

std::string call_of(const ToldOperation& operation, int member) {
  const CallRecord& record = operation.records[static_cast<std::size_t>(member)];
  const back::Signature& signature = record.signature;
  if (operation.agreement) return "survivors";
  if (operation.from_any) return fmt::format("recv_any of {} {}", signature.count, name_of(signature.dtype));
  if (operation.message) {
    return fmt::format("{} of {} {}{} {} rank {}", message_verb(record, member), signature.count,
                       name_of(signature.dtype), load_text(record, member), member == kReceiver ? "from" : "to",
                       operation.rank_of(1 - member));
  }
  const auto size = signature.count < 0 ? -signature.count : signature.count;
  switch (signature.kind) {
    case Collective::barrier:
    case Collective::split: return back::name_of(signature.kind);
    case Collective::all_reduce:
    case Collective::reduce_scatter:
      return fmt::format("{} of {} {}, {}", back::name_of(signature.kind), size, name_of(signature.dtype),
                         name_of(signature.reduce));
    case Collective::reduce:
      return fmt::format("reduce of {} {}, {}, root {}", size, name_of(signature.dtype), name_of(signature.reduce),
                         signature.root);
    case Collective::gather:
    case Collective::scatter:
      if (signature.count < 0) return part_text(signature);
      [[fallthrough]];
    case Collective::broadcast:
      return fmt::format("{} of {} {}, root {}", back::name_of(signature.kind), size, name_of(signature.dtype),
                         signature.root);
    default: return fmt::format("{} of {} {}", back::name_of(signature.kind), size, name_of(signature.dtype));
  }
}

std::string calls_text(const ToldOperation& operation) {
  std::vector<std::pair<std::string, std::vector<int>>> calls;
  for (int member = 0; member < operation.members(); ++member) {
    const CallRecord& record = operation.records[static_cast<std::size_t>(member)];
    const std::string text =
        fmt::format("{}{} at {}", call_of(operation, member), split_text(record), to_text(record.at));
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const auto& call) { return call.first == text; });
    if (found == calls.end()) {
      calls.push_back({text, {operation.rank_of(member)}});
    } else {
      found->second.push_back(operation.rank_of(member));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(calls.size(), kMostLines); ++i) {
    text += fmt::format("\n  {}: {}", ranks_text(calls[i].second), calls[i].first);
  }
  if (calls.size() > kMostLines) text += fmt::format("\n  and {} other calls", calls.size() - kMostLines);
  return text;
}

}  // namespace shardlings::front
