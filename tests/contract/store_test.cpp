// The store that ranks share: what is there at which virtual time, what becomes of a write whose rank dies, and what
// it costs. The same on every kind of world and in every run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/dtype.h"
#include "contract/mortal.h"
#include "contract/on_every_world.h"
#include "front/clock/cost.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::Death;
using front::RunReport;
using support::load;
using support::publish;
using support::published;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class StoreOfRanks : public OnEveryWorld {
 protected:
  RunReport run_with(int ranks, std::vector<Death> deaths, const support::Body& body) const {
    world::Options options = support::options_for(ranks);
    options.deaths = std::move(deaths);
    return support::run_and_compare(GetParam(), options, {1, 50}, body);
  }
  RunReport run_badly(int ranks, const support::Body& body) const {
    return GetParam().run(support::options_for(ranks), {1, 50}, body);
  }
};

// Each rank writes its part, of unequal sizes; each reads what overlaps the parts of twice as many.
TEST_P(StoreOfRanks, IsReadInAnotherLayout) {
  for (const int ranks : possible({1, 2, 3, 4})) {
    const Count n = 11;
    const RunReport report = run(ranks, [&](Rank& rank) {
      Group& world = rank.world();
      Store store = rank.store();
      const Range mine = world.mine(n);
      std::vector<float> values;
      for (Count i = mine.begin; i < mine.end; ++i) values.push_back(static_cast<float>(i));
      store.write("all", {"x", rank.id()}, load(rank, values));
      world.barrier();
      for (int half = 0; half < 2; ++half) {
        const Range wanted = {n * (2 * rank.id() + half) / (2 * ranks), n * (2 * rank.id() + half + 1) / (2 * ranks)};
        Tensor x = rank.zeros(wanted.size(), Kind::other);
        for (int r = 0; r < ranks; ++r) {
          const Range theirs = world.part(n, r), both = intersect(wanted, theirs);
          if (both.size() == 0) continue;
          store.read("all", {"x", r}, both.begin - theirs.begin,
                     x.part({both.begin - wanted.begin, both.end - wanted.begin}));
        }
        publish(rank, "half " + std::to_string(half), x);
      }
    });
    std::vector<float> all, expected;
    for (int r = 0; r < ranks; ++r) {
      for (const char* half : {"half 0", "half 1"}) {
        const std::vector<float>& part = published(report, r, half);
        all.insert(all.end(), part.begin(), part.end());
      }
    }
    for (Count i = 0; i < n; ++i) expected.push_back(static_cast<float>(i));
    EXPECT_EQ(all, expected);
  }
}

TEST_P(StoreOfRanks, TakesItsTimeOnALaneOfItsOwn) {
  const int ranks = least(1);
  world::Options options = support::options_for(ranks);
  options.cluster.store = {Nanos(700), 1e9};
  const RunReport report = support::run_and_compare(GetParam(), options, {1, 50}, [](Rank& rank) {
    begin_measured(rank);
    Store store = rank.store();
    Tensor x = load(rank, std::vector<float>(250, 3)), y = rank.host_empty(10, Kind::other);
    Work first = store.write_async("f", {"x", rank.id()}, x), second = store.write_async("g", {"x", rank.id()}, x);
    second.wait();
    first.wait();
    store.read("f", {"x", rank.id()}, 5, y);
    store.write_number("f", {"n", rank.id()}, -(Count{1} << 60));
    EXPECT_EQ(store.read_number("f", {"n", rank.id()}), -(Count{1} << 60));
    EXPECT_EQ(store.size("f", {"x", rank.id()}), 250);
    Tensor device = rank.empty(10, Kind::other);
    copy(device, y);
    publish(rank, "y", device);
  });
  EXPECT_THAT(published(report, 0, "y"), Each(3));
  const front::Counters& counters = report.ranks[0].counters;
  constexpr std::int64_t kWrite = 700 + 1000, kRead = 700 + 40, kNumber = 700 + 8;
  EXPECT_EQ(counters.busy[static_cast<std::size_t>(front::Lane::store)], Nanos(2 * kWrite + kRead + kNumber));
  EXPECT_EQ(counters.waited_for_store, Nanos(2 * kWrite + kRead + kNumber + 2 * 700));
  EXPECT_EQ(counters.store[0], (front::Copies{3, Bytes(2008)}));
  EXPECT_EQ(counters.store[1], (front::Copies{1, Bytes(40)}));
}

// What is asked for at a time is there at that time, whoever computes faster in truth.
TEST_P(StoreOfRanks, ShowsWhatIsThereAtThatTime) {
  const int ranks = least(2);
  world::Options options = support::options_for(ranks);
  options.cluster.store = {Nanos(10'000), 1e9};
  const RunReport report = support::run_and_compare(GetParam(), options, {1, 50}, [](Rank& rank) {
    begin_measured(rank);
    Store store = rank.store();
    if (rank.id() == 0) {
      Tensor x = load(rank, {1, 2, 3});
      pass_time(rank, 50'000);  // about 40 us
      store.write("f", {"x"}, x);
    } else {
      std::vector<Count> seen;
      for (int i = 0; i < 12; ++i) seen.push_back(store.size("f", {"x"}));
      publish_counts(rank, "seen", seen);
    }
  });
  const std::vector<float>& seen = published(report, 1, "seen");
  const Nanos end = report.ranks[0].counters.end;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], 10'000 * static_cast<std::int64_t>(i) >= end.value() ? 3 : kNoItem) << i;
  }
  EXPECT_EQ(seen.front(), kNoItem);
  EXPECT_EQ(seen.back(), 3);
}

TEST_P(StoreOfRanks, PublishesAFolderAsAWhole) {
  const int ranks = least(2);
  const RunReport report = run(ranks, [&](Rank& rank) {
    begin_measured(rank);
    Store store = rank.store();
    for (int step = 1; step <= 2; ++step) {
      Tensor x = load(rank, std::vector<float>(static_cast<std::size_t>(step), 1));
      Work work = store.write_async("saving", {"x", rank.id()}, x);
      work.wait();
      rank.world().barrier();
      if (rank.id() == 0) store.publish("saving", "latest");
      rank.world().barrier();
      publish_counts(rank, "sizes " + std::to_string(step),
                     {store.size("latest", {"x", ranks - 1}), store.size("saving", {"x", ranks - 1})});
    }
  });
  EXPECT_THAT(published(report, 0, "sizes 1"), ElementsAre(1, kNoItem));
  EXPECT_THAT(published(report, ranks - 1, "sizes 2"), ElementsAre(2, kNoItem));
  EXPECT_EQ(report.ranks[0].counters.renames, 2);
}

// In the middle of a write the item is torn, and stays so; what stands behind it on the lane was never there.
TEST_P(StoreOfRanks, IsTornWhereARankDiesInTheMiddle) {
  const int ranks = least(2);
  const RunReport report = run_with(ranks, {{0, {}, 0, 2}}, [](Rank& rank) {
    begin_measured(rank);
    Store store = rank.store();
    if (rank.id() == 0) {
      Tensor x = load(rank, {1, 2, 3});
      store.write("f", {"a"}, x);
      store.write("f", {"c"}, x.part({0, 0}));
      ADD_FAILURE() << "it has died in its second write";
    }
    if (rank.id() != 1) return;
    pass_time(rank, 10'000'000);
    publish_counts(rank, "sizes", {store.size("f", {"a"}), store.size("f", {"c"}), store.size("f", {"d"})});
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_THAT(published(report, 1, "sizes"), ElementsAre(3, kNoItem, kNoItem));
}

// What a rank dies before the end of does not happen.
TEST_P(StoreOfRanks, KeepsItsNamesWhereARankDiesBeforeTheEnd) {
  const int ranks = least(2);
  world::Options options = support::options_for(ranks);
  options.cluster.store = {Nanos(1'000), 1e9};
  for (const std::int64_t dies : {1'500, 2'500}) {  // the number takes 1008 ns, the new name 1000
    options.deaths = {{0, Nanos(dies)}};
    const RunReport report = support::run_and_compare(GetParam(), options, {1, 50}, [](Rank& rank) {
      begin_measured(rank);
      Store store = rank.store();
      if (rank.id() == 0) {
        store.write_number("f", {"n"}, 5);
        store.publish("f", "g");
        pass_time(rank, 1'000'000);
      } else if (rank.id() == 1) {
        pass_time(rank, 1'000'000);
        publish_counts(rank, "numbers", {store.read_number("f", {"n"}), store.read_number("g", {"n"})});
      }
    });
    ASSERT_FALSE(report.failure) << report.failure->message;
    const std::vector<float> named_f{5, kNoItem}, named_g{kNoItem, 5};
    EXPECT_EQ(published(report, 1, "numbers"), dies == 1'500 ? named_f : named_g);
  }
}

// Told of a death, a rank need not wait for its writes; they go on.
TEST_P(StoreOfRanks, GoesOnWithWritesThatNobodyWaitsFor) {
  const int ranks = least(2);
  const RunReport report = run_with(ranks, {{ranks - 1, Nanos(1)}}, [&](Rank& rank) {
    begin_measured(rank);
    pass_time(rank, 1000);
    Store store = rank.store();
    Tensor x = load(rank, {1, 2});
    try {
      Work dropped = store.write_async("f", {"x", rank.id()}, x);
      rank.world().barrier();
    } catch (const PeerFailed&) {
      scale(x, 2);
      pass_time(rank, 10'000'000);
      Tensor y = rank.empty(2, Kind::other);
      store.read("f", {"x", rank.id()}, 0, y);
      publish(rank, "y", y);
    }
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_THAT(published(report, 0, "y"), ElementsAre(1, 2));
}

// A program may catch that and write again: that is one write.
TEST_P(StoreOfRanks, CountsNoWriteThatItRefuses) {
  const int ranks = least(2);
  const RunReport report = run_with(ranks, {{ranks - 1, {}, 3}}, [](Rank& rank) {
    begin_measured(rank);
    Tensor x = load(rank, {1}), kept = load(rank, {1, 2});  // calls 1 and 2
    Work revoked = rank.world().all_reduce_async(x, ReduceOp::sum);
    EXPECT_THROW(rank.world().barrier(), PeerFailed);
    EXPECT_THROW(rank.store().write_async("f", {"x", rank.id()}, kept, revoked), PeerFailed);
    rank.store().write("f", {"x", rank.id()}, kept);
  });
  ASSERT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(report.ranks[0].counters.store[0], (front::Copies{1, Bytes(8)}));
}

TEST_P(StoreOfRanks, HasWhatWasGivenFromTheBeginning) {
  const int ranks = least(1);
  const RunReport report = run(ranks, [](Rank& rank) {
    const std::vector<float> values{4, 5, 6};
    if (rank.id() == 0) detail::harness::give_item(rank, "latest", {"w", 0}, values);
    begin_measured(rank);
    Tensor x = rank.empty(2, Kind::other);
    rank.store().read("latest", {"w", 0}, 1, x);
    publish(rank, "x", x);
  });
  EXPECT_THAT(published(report, 0, "x"), ElementsAre(5, 6));
}

TEST_P(StoreOfRanks, IsWrittenToByOneRankAtATime) {
  const int ranks = least(2);
  const RunReport report = run_badly(ranks, [](Rank& rank) {
    begin_measured(rank);
    if (rank.id() > 1) return;
    rank.store().write("f", {"x"}, load(rank, std::vector<float>(1000, 1)));
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::race);
  EXPECT_EQ(report.failure->rank, 1);
  EXPECT_EQ(report.failure->file, "store_test.cpp");
  EXPECT_THAT(report.failure->message, HasSubstr("race: two ranks write f/x at the same time."));
}

TEST_P(StoreOfRanks, IsInFlightUntilTheWait) {
  const int ranks = least(1);
  const RunReport report = run_badly(ranks, [](Rank& rank) {
    begin_measured(rank);
    Tensor x = load(rank, {1, 2, 3});
    Work work = rank.store().write_async("f", {"x", rank.id()}, x);
    scale(x, 2);
    work.wait();
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::race);
  EXPECT_THAT(report.failure->message, HasSubstr("while store.write of store_test.cpp:"));
}

// It would be entered when its rank waits for it, after others have been told what is there.
TEST_P(StoreOfRanks, AWriteComesAfterNothingThatOthersTakePartIn) {
  const auto message = [&](const support::Body& body) {
    const RunReport report = run_badly(least(2), body);
    EXPECT_TRUE(report.failure);
    return report.failure ? report.failure->message : std::string();
  };
  EXPECT_THAT(message([](Rank& rank) {
                begin_measured(rank);
                Tensor x = load(rank, {1, 2, 3});
                Work summed = rank.world().all_reduce_async(x, ReduceOp::sum);
                rank.store().write_async("f", {"x", rank.id()}, x, summed).wait();
              }),
              HasSubstr("store.write: it would come after all_reduce (group world, 3 f32) of store_test.cpp:"));
  EXPECT_THAT(message([](Rank& rank) {
                begin_measured(rank);
                Tensor x = load(rank, {1, 2, 3}), copied = rank.host_empty(3, Kind::other);
                Work summed = rank.world().all_reduce_async(x, ReduceOp::sum);
                Work drained = copy_async(copied, x, summed);
                rank.store().write_async("f", {"x", rank.id()}, copied, drained).wait();
              }),
              HasSubstr("which waits for other ranks: wait() for that first"));
}

TEST_P(StoreOfRanks, AWriteComesAfterACopy) {
  const RunReport report = run(least(1), [](Rank& rank) {
    begin_measured(rank);
    Tensor x = load(rank, {1, 2, 3}), copied = rank.host_empty(3, Kind::other), read = rank.empty(3, Kind::other);
    Work drained = copy_async(copied, x);
    rank.store().write_async("f", {"x", rank.id()}, copied, drained).wait();
    rank.store().read("f", {"x", rank.id()}, 0, read);
    publish(rank, "x", read);
  });
  EXPECT_THAT(published(report, 0, "x"), ElementsAre(1, 2, 3));
}

// Outside of what is measured a program may go on, and what has failed has nothing to do with its next call.
TEST_P(StoreOfRanks, GoesOnAfterAFolderThatIsNotThere) {
  const RunReport report = run(least(1), [](Rank& rank) {
    Store store = rank.store();
    int refused = 0;
    for (const char* folder : {"nothing", "none"}) {
      try {
        store.publish(folder, "latest");
      } catch (const InvalidArgument&) {
        ++refused;
      }
    }
    store.write_number("f", {"n", rank.id()}, 7);
    publish_counts(rank, "numbers", {refused, store.read_number("f", {"n", rank.id()})});
  });
  EXPECT_THAT(published(report, 0, "numbers"), ElementsAre(2, 7));
}

TEST_P(StoreOfRanks, SaysWhoHasTornWhatIsRead) {
  world::Options options = support::options_for(least(2));
  options.cluster.store = {Nanos(1'000), 1e3};  // 12 bytes take 12 ms
  const auto message = [&] {
    const RunReport report = GetParam().run(options, {1, 50}, [](Rank& rank) {
      begin_measured(rank);
      Tensor x = load(rank, {1, 2, 3});
      if (rank.id() == 0) return rank.store().write("f", {"x"}, x);
      pass_time(rank, 10'000'000);
      rank.store().read("f", {"x"}, 0, x);
    });
    return report.failure ? report.failure->message : "";
  };
  const std::string torn = "f/x: it is torn: rank 0 began to write it at store_test.cpp:";
  EXPECT_THAT(message(), AllOf(HasSubstr(torn), HasSubstr(", and had not come to the end")));
  options.deaths = {{0, {}, 0, 1}};
  EXPECT_THAT(message(), AllOf(HasSubstr(torn), HasSubstr(", and died before the end")));
}

TEST_P(StoreOfRanks, SaysWhatIsWrongWithACall) {
  const auto message = [&](const support::Body& body) {
    const RunReport report = run_badly(least(1), [&](Rank& rank) {
      Tensor x = load(rank, {1, 2, 3});
      rank.store().write("f", {"x", rank.id()}, x);
      rank.store().write_number("f", {"n", rank.id()}, 3);
      body(rank);
    });
    EXPECT_TRUE(report.failure);
    if (!report.failure) return std::string();
    EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument);
    return report.failure->message;
  };
  const auto read = [](Rank& rank, Item item, Count first, DType dtype) {
    Tensor x = rank.empty(2, Kind::other, dtype);
    rank.store().read("f", item, first, x);
  };
  EXPECT_THAT(message([&](Rank& rank) { read(rank, {"y"}, 0, DType::f32); }), HasSubstr("f/y: there is none"));
  EXPECT_THAT(message([&](Rank& rank) { read(rank, {"n", rank.id()}, 0, DType::f32); }), HasSubstr("it is a number"));
  EXPECT_THAT(message([&](Rank& rank) {
                read(rank, {"x", rank.id()}, 0, DType::i32);
              }),
              HasSubstr("it has elements of f32, and `data` of i32"));
  EXPECT_THAT(message([&](Rank& rank) {
                read(rank, {"x", rank.id()}, 2, DType::f32);
              }),
              HasSubstr("elements [2, 4) are wanted, and it has 3"));
  EXPECT_THAT(message([&](Rank& rank) { rank.store().publish("nothing", "latest"); }),
              HasSubstr("store.publish: there is no folder nothing"));
  EXPECT_THAT(message([](Rank& rank) {
                Store none;
                none.write("f", {"x"}, rank.zeros(1, Kind::other));
              }),
              HasSubstr("this Store is empty: it was default-constructed"));
  EXPECT_THAT(message([&](Rank& rank) { rank.store().write("a/b", {"x"}, ConstView()); }),
              HasSubstr("'a/b' is no name"));
  EXPECT_THAT(message([&](Rank& rank) {
                rank.store().write("f", {"x", rank.id()}, ConstView());
              }),
              HasSubstr("`data` is empty"));
}

INSTANTIATE_TEST_SUITE_P(World, StoreOfRanks, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
