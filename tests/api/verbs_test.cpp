// The table of verbs, seen as data.
#include "api/verbs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "api/arguments.h"

namespace shardlings::detail {
namespace {

std::vector<Verb> all_verbs() {
  std::vector<Verb> verbs;
  for (int v = 0; v < kVerbs; ++v) verbs.push_back(static_cast<Verb>(v));
  return verbs;
}

bool has(Verb verb, FieldKind kind) {
  const auto fields = spec_of(verb).fields;
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) { return field.kind == kind; });
}

TEST(Verbs, HaveTheLearnersNames) {
  EXPECT_STREQ(name_of(Verb::matmul), "matmul");
  EXPECT_STREQ(name_of(Verb::read_scalar), "read");
  EXPECT_STREQ(name_of(Verb::layer_backward), "backward");
  EXPECT_STREQ(name_of(Verb::publish), "publish");
}

TEST(Verbs, HaveDifferentNames) {
  std::set<std::string> names;
  for (const Verb verb : all_verbs()) EXPECT_TRUE(names.insert(name_of(verb)).second) << name_of(verb);
}

TEST(Verbs, AllocationIsNamedAsItWasWritten) {
  Call call;
  call.verb = Verb::allocate;
  EXPECT_STREQ(name_of(call), "empty");
  call.number[1] = 1;
  EXPECT_STREQ(name_of(call), "zeros");
  call.number[2] = 1;
  EXPECT_STREQ(name_of(call), "host_zeros");
  call.number[1] = 0;
  EXPECT_STREQ(name_of(call), "host_empty");
}

TEST(Verbs, OfTheHarnessAreThose) {
  std::set<std::string> names;
  for (const Verb verb : all_verbs()) {
    if (spec_of(verb).by == Caller::harness) names.insert(name_of(verb));
  }
  EXPECT_EQ(names, (std::set<std::string>{"load", "mark_layer", "add_model", "begin_measuring", "end_measuring",
                                          "script_read", "publish", "store.give"}));
}

TEST(Verbs, ThatDestructorsCallAreThose) {
  for (const Verb verb : all_verbs()) {
    const bool released = verb == Verb::drop || verb == Verb::drop_saved || verb == Verb::drop_work;
    EXPECT_EQ(spec_of(verb).released, released) << name_of(verb);
    const bool uncounted = verb == Verb::add_model || verb == Verb::show || verb == Verb::refuse ||
                           verb == Verb::script_read || verb == Verb::publish || verb == Verb::store_give ||
                           verb == Verb::survivor;
    EXPECT_EQ(spec_of(verb).uncounted, uncounted) << name_of(verb);
  }
}

/// How many slots of each kind a verb's fields take.
struct Slots {
  int tensors = 0, numbers = 0, scalars = 0, ids = 0;
};

Slots slots_of(Verb verb) {
  Slots slots;
  for (const Field& field : spec_of(verb).fields) {
    switch (field.kind) {
      case FieldKind::reads:
      case FieldKind::writes:
      case FieldKind::may_read:
      case FieldKind::may_write:
      case FieldKind::takes:
      case FieldKind::made_like: ++slots.tensors; break;
      case FieldKind::parts: slots.tensors += kMaxTensors; break;
      case FieldKind::number:
      case FieldKind::bits:
      case FieldKind::flag:
      case FieldKind::integer:
      case FieldKind::choice: ++slots.numbers; break;
      case FieldKind::range: slots.numbers += 2; break;
      case FieldKind::scalar: ++slots.scalars; break;
      case FieldKind::work:
      case FieldKind::saved:
      case FieldKind::lent: ++slots.ids; break;
      default: break;
    }
  }
  return slots;
}

TEST(Verbs, FitIntoACall) {
  for (const Verb verb : all_verbs()) {
    const Slots slots = slots_of(verb);
    EXPECT_LE(slots.tensors, kMaxTensors) << name_of(verb);
    EXPECT_LE(slots.numbers, kMaxNumbers) << name_of(verb);
    EXPECT_LE(slots.scalars, kMaxScalars) << name_of(verb);
    EXPECT_LE(slots.ids, 1) << name_of(verb) << ": a Work, a Saved and what is lent share a place";
  }
}

TEST(Verbs, ChoicesKnowHowManyThereAre) {
  for (const Verb verb : all_verbs()) {
    for (const Field& field : spec_of(verb).fields) {
      if (field.kind != FieldKind::choice) continue;
      EXPECT_GT(field.choices, 1) << name_of(verb) << ": " << field.name;
    }
  }
}

TEST(Verbs, OfGroupsCanWait) {
  EXPECT_TRUE(has(Verb::all_gather, FieldKind::async));
  EXPECT_FALSE(has(Verb::barrier, FieldKind::async));
  EXPECT_FALSE(has(Verb::matmul, FieldKind::async));
}

}  // namespace
}  // namespace shardlings::detail
