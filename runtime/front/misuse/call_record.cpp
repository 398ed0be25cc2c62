#include "front/misuse/call_record.h"

#include "base/parts.h"

namespace shardlings::front {

using back::Collective;

bool is_rooted(CallRecords records) {
  const Collective kind = records[0].plan.kind;
  return kind == Collective::gather || kind == Collective::scatter;
}

const back::Plan& agreed_plan(CallRecords records) {
  const back::Plan& first = records[0].plan;
  return is_rooted(records) ? records[static_cast<std::size_t>(first.root)].plan : first;
}

int member_with_wrong_part(CallRecords records) {
  const back::Plan& root = agreed_plan(records);
  for (int member = 0; member < static_cast<int>(records.size()); ++member) {
    const Count part = -records[static_cast<std::size_t>(member)].plan.count;
    if (member != root.root && part != part_of(root.count, root.members, member).size()) return member;
  }
  return -1;
}

std::string disagreement(CallRecords records) {
  const back::Plan& first = records[0].plan;
  for (const CallRecord& record : records) {
    if (record.plan.kind != first.kind) return "operations";
  }
  if (first.kind == Collective::barrier || first.kind == Collective::split) return "";
  for (const CallRecord& record : records) {
    if (record.plan.dtype != first.dtype) return "types";
    if (record.plan.root != first.root) return "roots";
    if (record.plan.reduce != first.reduce) return "reduction operators";
  }
  if (is_rooted(records)) return member_with_wrong_part(records) < 0 ? "" : "sizes";
  for (const CallRecord& record : records) {
    if (record.plan.count != first.count) return "sizes";
  }
  return "";
}

}  // namespace shardlings::front
