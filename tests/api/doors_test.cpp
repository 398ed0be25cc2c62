// What a rank's doors let in, what they refuse, and how errors come back.
#include "front/doors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "api/harness_calls.h"
#include "api/request.h"
#include "front/rank/texts.h"
#include "support/on_rank.h"
#include "world/world.h"

namespace shardlings::detail {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Runs on each of `ranks` ranks, which must end well.
void on_ranks(int ranks, const std::function<void(Rank&)>& body) {
  world::Options options;
  options.ranks = ranks;
  options.capacity = Bytes(1 << 20);
  const front::RunReport report = world::run(options, body);
  EXPECT_FALSE(report.failure) << report.failure->message;
}

/// What a call through the learner's door is answered.
std::string refusal(Rank& rank, const Call& call) {
  try {
    Access::port(rank)->call(call);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

Call call_of(Verb verb, std::initializer_list<ConstView> tensors = {}) {
  Call call;
  call.verb = verb;
  for (const ConstView& tensor : tensors) call.tensor[call.num_tensors++] = Access::ref(tensor);
  return call;
}

TEST(Doors, LearnersMayNotAskForWhatIsTheHarnesss) {
  on_ranks(1, [](Rank& rank) {
    const Tensor x = rank.zeros(4, Kind::other);
    const auto refused = EndsWith("only a harness may ask for this");
    int refusals = 0;
    for (int v = 0; v < kVerbs; ++v) {
      const auto verb = static_cast<Verb>(v);
      if (spec_of(verb).by != Caller::harness) continue;
      const bool has_tensor =
          verb == Verb::load || verb == Verb::mark_layer || verb == Verb::publish || verb == Verb::store_give;
      EXPECT_THAT(refusal(rank, has_tensor ? call_of(verb, {x}) : call_of(verb)), refused) << name_of(verb);
      ++refusals;
    }
    EXPECT_EQ(refusals, 8);
  });
}

TEST(Doors, HarnessesMay) {
  on_ranks(1, [](Rank& rank) {
    const std::vector<float> values = {1, 2, 3};
    const Tensor x = harness::load(rank, std::span(values), 3, DType::f32, Kind::other);
    EXPECT_EQ(harness::values_of(x), values);
    EXPECT_EQ(rank.read(x.part({2, 3})), 3);
    harness::begin_measuring(rank);
    EXPECT_EQ(harness::now(rank), Nanos(0));
  });
}

/// A step as a harness makes it: the learner's function between the two calls that measure it.
void measured(Rank& rank, const std::function<void()>& learners) {
  harness::begin_measuring(rank);
  learners();
  harness::end_measuring(rank);
}

// A learner must not find out by exceptions what is allowed, nor hide that a call was wrong.
TEST(Doors, AWrongCallStaysWrongWhenItsErrorIsCaught) {
  world::Options options;
  options.ranks = 2;
  const front::RunReport report = world::run(options, [](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other);
    measured(rank, [&] {
      if (rank.id() == 0) return rank.world().barrier();
      EXPECT_THROW(add(x, x.part({0, 2})), InvalidArgument);
      EXPECT_THROW(fill(x, 1), InvalidArgument) << "the same again";
    });
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument) << report.failure->message;
  EXPECT_EQ(report.failure->rank, 1);
  EXPECT_THAT(report.failure->message, HasSubstr("add"));
}

TEST(Doors, OutOfMemoryStaysWhenItsErrorIsCaught) {
  world::Options options;
  options.capacity = Bytes(1 << 10);
  const front::RunReport report = world::run(options, [](Rank& rank) {
    measured(rank, [&] { EXPECT_THROW(rank.zeros(1 << 20, Kind::other), OutOfMemory); });
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::out_of_memory);
}

TEST(Doors, ARaceStaysWhenItsErrorIsCaught) {
  world::Options options;
  options.ranks = 2;
  const front::RunReport report = world::run(options, [](Rank& rank) {
    Tensor x = rank.zeros(4, Kind::other);
    measured(rank, [&] {
      Work work = rank.world().all_reduce_async(x, ReduceOp::sum);
      EXPECT_THROW(fill(x, 1), MisuseError);
      EXPECT_THROW(work.wait(), MisuseError);
    });
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::race) << report.failure->message;
}

TEST(Doors, WhatIsLentIsForOneCallAndOfItsSize) {
  on_ranks(1, [](Rank& rank) {
    const std::vector<float> values = {1, 2, 3};
    EXPECT_THROW(harness::load(rank, std::span(values), 4, DType::f32, Kind::other), InvalidArgument);
    EXPECT_THROW(harness::load(rank, std::span(values), 3, DType::bf16, Kind::other), InvalidArgument);
    HarnessPort& port = *Access::port(rank)->harness();
    const std::uint64_t first = port.lend(std::as_bytes(std::span(values)));
    port.lend(std::as_bytes(std::span(values)));
    const auto load = [&](std::uint64_t id) {
      Request(args::load{.result = {3, DType::f32}, .kind = Kind::other, .values = id}, kNoPlace).send_through(port);
    };
    EXPECT_THROW(load(first), InvalidArgument) << "that was for another call";
    EXPECT_EQ(support::front_of(rank).rank().live(), Bytes(0)) << "what was refused holds no memory";
  });
}

TEST(Doors, NumbersOfThingsThatAreNotThereAreRefused) {
  on_ranks(2, [](Rank& rank) {
    const Tensor x = rank.zeros({2, 3}, Kind::other);
    for (const Verb verb : {Verb::all_reduce, Verb::send_recv, Verb::barrier, Verb::split}) {
      Call call = call_of(verb);
      if (verb == Verb::all_reduce) call = call_of(verb, {x});
      if (verb == Verb::send_recv) call = call_of(verb, {x, x});
      call.group = 7;
      EXPECT_THAT(refusal(rank, call), HasSubstr("this rank is in no such group")) << name_of(verb);
    }
    for (const Verb verb : {Verb::send, Verb::recv, Verb::recv_any}) {
      Call call = call_of(verb, {x});
      call.group = std::numeric_limits<std::uint32_t>::max();
      EXPECT_THAT(refusal(rank, call), HasSubstr("this rank is in no such group")) << name_of(verb);
    }
    Call forward = call_of(Verb::layer_forward, {x, x});
    forward.model = 1;
    EXPECT_THAT(refusal(rank, forward), HasSubstr("this Model is not known to the rank"));
    Call split = call_of(Verb::split);
    split.text = 100;
    EXPECT_THAT(refusal(rank, split), HasSubstr("a text has an unknown number"));
    Call fill = call_of(Verb::fill, {x});
    fill.at = {100, 1};
    EXPECT_THAT(refusal(rank, fill), HasSubstr("a text has an unknown number"));
  });
}

TEST(Doors, RefuseWhatDoesNotFitTheTableWithItsPlace) {
  on_ranks(1, [](Rank& rank) {
    const Tensor x = rank.zeros({2, 3}, Kind::other);
    try {
      matmul(x, x, static_cast<Trans>(7), {"folder/mine.cpp", 12});
      FAIL();
    } catch (const InvalidArgument& error) {
      EXPECT_STREQ(error.what(), "mine.cpp:12: rank 0: matmul: trans is 7, but Trans has 4 values");
      EXPECT_STREQ(error.where().file, "folder/mine.cpp");
      EXPECT_EQ(error.where().line, 12);
    }
    EXPECT_THROW(rank.zeros((Count{1} << 62) + 1, Kind::other), InvalidArgument);
    EXPECT_THROW(rank.zeros({Count{1} << 32, Count{1} << 32}, Kind::other), InvalidArgument);
  });
}

TEST(Doors, ReleasedCallsThatDoNotFitAreForgotten) {
  on_ranks(1, [](Rank& rank) {
    Port& port = *Access::port(rank);
    Call call = call_of(Verb::drop);
    port.release(call);
    call.num_tensors = 200;
    port.release(call);
    call.verb = static_cast<Verb>(250);
    port.release(call);
    EXPECT_EQ(rank.read(rank.zeros(1, Kind::other)), 0);
  });
}

TEST(Doors, TensorsOfOtherRanksAreRefusedByCollectivesToo) {
  on_ranks(2, [](Rank& rank) {
    static Tensor shared;
    if (rank.id() == 0) shared = rank.zeros(3, Kind::other);
    rank.world().barrier();
    if (rank.id() == 1) {
      Tensor own = rank.zeros(3, Kind::other);
      EXPECT_THROW(rank.world().all_gather(shared, own), InvalidArgument);
    }
    rank.world().barrier();
    if (rank.id() == 0) shared = {};
  });
}

/// Answers everything with one error.
class BrokenPort final : public Port {
 public:
  explicit BrokenPort(ErrorKind kind) { reply_.error = kind; }
  BrokenPort(Misuse misuse) : BrokenPort(ErrorKind::misuse) { reply_.misuse = misuse; }

 private:
  Reply answer(const Call&) override {
    reply_.at = {1, 5};
    return reply_;
  }
  TextId define(std::string_view) override { return 1; }
  std::string text_of(TextId) override { return "mine.cpp"; }
  std::string error_text() override { return "it is broken"; }

  Reply reply_;
};

template <class Exception>
void expect_raised(ErrorKind kind) {
  BrokenPort port(kind);
  try {
    port.call({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(typeid(error), typeid(Exception));
    EXPECT_STREQ(error.what(), "it is broken");
    EXPECT_STREQ(error.where().file, "mine.cpp");
    EXPECT_EQ(error.where().line, 5);
  }
}

TEST(Port, RaisesErrorsAsTheExceptionsThatTheyAre) {
  expect_raised<InvalidArgument>(ErrorKind::invalid_argument);
  expect_raised<OutOfMemory>(ErrorKind::out_of_memory);
  expect_raised<MisuseError>(ErrorKind::misuse);
  expect_raised<Aborted>(ErrorKind::aborted);
  expect_raised<PeerFailed>(ErrorKind::peer_failed);
  expect_raised<Error>(ErrorKind::other);
}

TEST(Port, RaisesWhatIsNoErrorOfOurs) {
  EXPECT_THROW(BrokenPort(ErrorKind::no_host_memory).call({}), std::bad_alloc);
  try {
    BrokenPort(ErrorKind::foreign).call({});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "it is broken");
  }
}

TEST(Port, KeepsTheKindOfMisuse) {
  for (const Misuse misuse : {Misuse::mismatch, Misuse::deadlock, Misuse::desertion, Misuse::race, Misuse::leak}) {
    BrokenPort port(misuse);
    try {
      port.call({});
      FAIL();
    } catch (const MisuseError& error) {
      EXPECT_EQ(error.misuse(), misuse);
    }
  }
}

TEST(Port, OfAnOrdinaryProcessBelongsToAHarnessToo) {
  BrokenPort elsewhere(ErrorKind::none);
  EXPECT_EQ(elsewhere.harness(), nullptr) << "unless it says otherwise";
  on_ranks(1, [](Rank& rank) { EXPECT_NE(Access::port(rank)->harness(), nullptr); });
}

TEST(Port, FilesAreKnownByTheirTextNotByTheirAddress) {
  on_ranks(1, [](Rank& rank) {
    Port& port = *Access::port(rank);
    char name[] = "a.cpp";
    const PackedLocation first = port.packed({name, 1});
    name[0] = 'b';
    const PackedLocation second = port.packed({name, 1});
    EXPECT_NE(first.file, second.file);
    EXPECT_EQ(port.packed({"a.cpp", 2}).file, first.file);
    EXPECT_EQ(port.packed({}).file, 0U);
  });
}

TEST(Texts, AreNumberedOnceAndBounded) {
  front::Texts texts;
  EXPECT_EQ(texts.define(""), 0U);
  const TextId id = texts.define("dp");
  EXPECT_EQ(texts.define("dp"), id);
  EXPECT_STREQ(texts.text(id), "dp");
  EXPECT_STREQ(texts.text(0), "");
  EXPECT_FALSE(texts.has(id + 1));
  EXPECT_EQ(texts.define(std::string(front::Texts::kLongest + 1, 'x')), 0U);
  TextId last = 1;
  for (int i = 0; last != 0 && i < 1 << 20; ++i) last = texts.define("group " + std::to_string(i));
  EXPECT_EQ(last, 0U) << "somebody defines texts for ever";
  EXPECT_EQ(texts.define("dp"), id) << "what is known stays known";
}

}  // namespace
}  // namespace shardlings::detail
