#include "fuzz/random_call.h"

#include <algorithm>
#include <limits>

#include "base/dtype.h"

namespace shardlings::detail {

std::int64_t RandomCalls::strange_number() {
  static constexpr std::int64_t kStrange[] = {0,
                                              1,
                                              -1,
                                              2,
                                              7,
                                              255,
                                              std::numeric_limits<std::int32_t>::max(),
                                              std::numeric_limits<std::int32_t>::min(),
                                              std::int64_t{1} << 32,
                                              std::int64_t{1} << 56,
                                              std::int64_t{1} << 61,
                                              std::numeric_limits<std::int64_t>::max(),
                                              std::numeric_limits<std::int64_t>::min()};
  return one_in(4) ? static_cast<std::int64_t>(bits()) : kStrange[below(std::size(kStrange))];
}

Shape RandomCalls::shape() {
  const Count a = below(5), b = below(5) + 1, c = 3 * (below(3) + 1);
  switch (below(5)) {
    case 0: return a;
    case 1: return {a, c};
    case 2: return {a, b, c};
    case 3: return {b, b, b, c};
    default: return {4, 2, 9};
  }
}

Ref RandomCalls::ref() {
  if (refs_.empty() || one_in(16)) return {};
  return refs_[static_cast<std::size_t>(below(static_cast<int>(refs_.size())))];
}

void RandomCalls::add(Call& call, const Field& field) {
  switch (field.kind) {
    case FieldKind::made_like:
      call.tensor[call.num_tensors].shape = shape();
      call.tensor[call.num_tensors++].dtype = static_cast<DType>(below(8) % kNumDTypes);
      break;
    case FieldKind::parts:
      for (int parts = 1 + below(3); parts > 0; --parts) call.tensor[call.num_tensors++] = ref();
      break;
    case FieldKind::number: call.number[numbers_++] = below(9); break;
    case FieldKind::bits: call.number[numbers_++] = static_cast<std::int64_t>(bits()); break;
    case FieldKind::flag: call.number[numbers_++] = below(2); break;
    case FieldKind::integer: call.number[numbers_++] = below(5) - 1; break;
    case FieldKind::choice: call.number[numbers_++] = below(field.choices); break;
    case FieldKind::range:
      call.number[numbers_++] = 0;
      call.number[numbers_++] = below(12);
      break;
    case FieldKind::scalar: call.scalar[scalars_++] = static_cast<float>(below(100)) / 32; break;
    case FieldKind::in_group: call.group = static_cast<std::uint32_t>(below(static_cast<int>(groups_))); break;
    case FieldKind::of_model: call.model = static_cast<std::uint32_t>(below(static_cast<int>(models_) + 1)); break;
    case FieldKind::work:
    case FieldKind::saved:
    case FieldKind::lent:
      if (!ids_.empty()) call.id = ids_[static_cast<std::size_t>(below(static_cast<int>(ids_.size())))];
      break;
    case FieldKind::async: call.blocking = static_cast<std::uint8_t>(below(2)); break;
    case FieldKind::released:
    case FieldKind::uncounted:
    case FieldKind::text: break;
    default: call.tensor[call.num_tensors++] = ref(); break;
  }
}

void RandomCalls::change(Call& call) {
  Ref& ref = call.tensor[below(kMaxTensors)];
  switch (below(12)) {
    case 0: call.number[below(kMaxNumbers)] = strange_number(); break;
    case 1: ref.offset = strange_number(); break;
    case 2: ref.shape = {strange_number(), strange_number()}; break;
    case 3: ref.shape = shape(); break;
    case 4: ref.dtype = static_cast<DType>(below(7)); break;
    case 5: ref.storage = static_cast<std::uint32_t>(strange_number()); break;
    case 6: ref.generation = static_cast<std::uint32_t>(below(50)); break;
    case 7: call.num_tensors = static_cast<std::uint8_t>(below(12)); break;
    case 8: call.id = static_cast<std::uint64_t>(one_in(2) ? strange_number() : below(200)); break;
    case 9: call.group = static_cast<std::uint32_t>(strange_number()); break;
    case 10: call.model = static_cast<std::uint32_t>(strange_number()); break;
    default:
      // Any byte of it: also those that nobody should read.
      reinterpret_cast<unsigned char*>(&call)[bits() % sizeof call] = static_cast<unsigned char>(bits());
      break;
  }
}

Call RandomCalls::next() {
  Call call;
  if (one_in(50)) {
    auto* bytes = reinterpret_cast<unsigned char*>(&call);
    for (std::size_t i = 0; i < sizeof call; ++i) bytes[i] = static_cast<unsigned char>(bits());
    return call;
  }
  numbers_ = scalars_ = 0;
  const bool makes_one = refs_.size() < 8 || one_in(8);  // there must be something to work on
  call.verb = makes_one ? Verb::allocate : static_cast<Verb>(below(kVerbs));
  for (const Field& field : spec_of(call.verb).fields) add(call, field);
  call.at.line = below(100);
  for (int changes = one_in(2) ? below(4) : 0; changes > 0; --changes) change(call);
  return call;
}

void RandomCalls::learn(const Reply& reply) {
  for (const Ref& ref : reply.tensor) {
    if (ref.storage == 0) continue;
    refs_.push_back(ref);
    made_.push_back(ref);
  }
  while (refs_.size() > 24) refs_.pop_front();
  if (reply.id != 0) {
    ids_.push_back(reply.id);
    made_ids_.push_back(reply.id);
  }
  while (ids_.size() > 8) ids_.pop_front();
  if (reply.group_size > 0 && reply.group >= groups_) groups_ = reply.group + 1;
}

std::string RandomCalls::text() {
  std::string text(static_cast<std::size_t>(below(one_in(16) ? 10'000 : 3)), ' ');
  for (char& letter : text) letter = static_cast<char>(one_in(16) ? bits() : 'a' + bits() % 4);
  return text;
}

std::vector<Call> RandomCalls::releases() {
  std::vector<Call> calls;
  for (const Ref& ref : made_) {
    Call& drop = calls.emplace_back();
    drop.verb = Verb::drop;
    drop.num_tensors = 1;
    drop.tensor[0] = ref;
  }
  for (const std::uint64_t id : made_ids_) {
    Call& drop = calls.emplace_back();
    drop.verb = Verb::drop_saved;
    drop.id = id;
  }
  made_.clear();
  made_ids_.clear();
  refs_.clear();
  return calls;
}

}  // namespace shardlings::detail
