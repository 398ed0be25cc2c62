/// \file
/// What ranks tell one another of a call, and whether they agree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "back/fabric/fabric.h"
#include "base/units.h"
#include "front/trace/event.h"
#include "shardlings/location.h"

namespace shardlings::front {

/// What a rank tells the others when it starts an operation: the fingerprint that must agree, and its clock.
struct CallRecord {
  back::Signature signature;
  Location at;
  std::uint64_t order = 0;   ///< number of the call on its rank
  Nanos posted;              ///< the rank's clock at the call
  Nanos lane_free;           ///< sends: when the sender's egress is free; else filled in by the control plane
  Label label;               ///< of the data sent
  Count row = 0;             ///< messages of all_to_all_rows: the elements of a row. 0: it is another message
  std::int32_t color = 0;    ///< split
  std::int32_t key = 0;      ///< split
  std::uint32_t groups = 0;  ///< split: how many groups the rank is in already; filled in by the control plane
  /// Split: of the group to be, a text of the rank's; empty otherwise. So a record is numbers and addresses, and copied
  /// as such with every operation.
  std::string_view name;
  /// Collectives: how many of the group's calls before this one were the harness's, of which no learner knows.
  std::uint64_t not_learners = 0;
  bool is_async = false;  ///< it returns at once, and is waited for elsewhere
  bool from_any = false;  ///< a receive that takes the message of any rank
};

static_assert(std::is_trivially_copyable_v<CallRecord>);

/// Of one operation, by member.
using CallRecords = std::span<const CallRecord>;

/// Gather or scatter: only the root knows the count of the whole, the others that of their part.
bool is_rooted(CallRecords records);
/// The signature that all agree on: of gather and scatter the root's.
const back::Signature& agreed_signature(CallRecords records);
/// Of a gather or scatter: the first member whose count is not its part of the root's; -1 if all fit.
int member_with_wrong_part(CallRecords records);
/// Of a split: a member who calls its new group otherwise than most of those who shall be in it; -1 if they agree.
int member_with_other_name(CallRecords records);
/// In what the records disagree ("sizes", "roots", …); empty if all agree.
std::string disagreement(CallRecords records);

}  // namespace shardlings::front
