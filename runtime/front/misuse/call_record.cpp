#include "front/misuse/call_record.h"

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

std::string disagreement(CallRecords records) {
  const back::Signature& first = records[0].signature;
  for (const CallRecord& record : records) {
    if (record.signature.kind != first.kind) return "operations";
  }
  if (first.kind == Collective::barrier || first.kind == Collective::split) return "";
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
