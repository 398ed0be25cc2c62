#include "front/misuse/call_record.h"

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/parts.h"

namespace shardlings::front {

using back::Collective;

bool is_rooted(CallRecords records) {
  const Collective kind = records[0].signature.kind;
  return kind == Collective::gather || kind == Collective::scatter;
}

const back::Signature& agreed_signature(CallRecords records) {
  const back::Signature& first = records[0].signature;
  return is_rooted(records) ? records[static_cast<std::size_t>(first.root)].signature : first;
}

int member_with_wrong_part(CallRecords records) {
  const back::Signature& root = agreed_signature(records);
  for (int member = 0; member < static_cast<int>(records.size()); ++member) {
    const Count part = -records[static_cast<std::size_t>(member)].signature.count;
    if (member != root.root && part != part_of(root.count, root.members, member).size()) return member;
  }
  return -1;
}

// The groups that a split makes may have different names, so only those of one color are compared. With a tie, the last
// one is the odd one; of several groups, the one of the smallest color.
int member_with_other_name(CallRecords records) {
  std::map<std::int32_t, std::map<std::string_view, int>> names;  // by color: how many give each
  for (const CallRecord& record : records) {
    if (record.color != kNobody) ++names[record.color][record.name];
  }
  for (const auto& [color, votes] : names) {
    if (votes.size() == 1) continue;
    int odd = -1, fewest = 0;
    for (int member = 0; member < static_cast<int>(records.size()); ++member) {
      const CallRecord& record = records[static_cast<std::size_t>(member)];
      if (record.color != color) continue;
      const int others = votes.at(record.name);
      if (odd < 0 || others <= fewest) std::tie(odd, fewest) = std::pair(member, others);
    }
    return odd;
  }
  return -1;
}

std::string disagreement(CallRecords records) {
  const back::Signature& first = records[0].signature;
  for (const CallRecord& record : records) {
    if (record.signature.kind != first.kind) return "operations";
  }
  if (first.kind == Collective::barrier) return "";
  if (first.kind == Collective::split) return member_with_other_name(records) < 0 ? "" : "names";
  for (const CallRecord& record : records) {
    if (record.signature.dtype != first.dtype) return "types";
    if (record.signature.root != first.root) return "roots";
    if (record.signature.reduce != first.reduce) return "reduction operators";
  }
  if (is_rooted(records)) return member_with_wrong_part(records) < 0 ? "" : "sizes";
  for (const CallRecord& record : records) {
    if (record.signature.count != first.count) return "sizes";
  }
  return "";
}

}  // namespace shardlings::front
