// Point-to-point: order, rendezvous, independence of directions and groups.
#include <gtest/gtest.h>

#include <algorithm>

#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;
using support::load;
using support::publish;
using support::published;

class Messages : public OnEveryWorld {};

std::vector<float> letter(int from, int number, Count size) {
  std::vector<float> values;
  for (Count i = 0; i < size; ++i)
    values.push_back(static_cast<float>(1000 * from + 100 * number) + 0.5F * static_cast<float>(i));
  return values;
}

Count size_of_letter(int number) {
  return number % 4 == 3 ? 0 : 1 + 13 * (number % 4);
}

std::string name_of_letter(int number) {
  return "letter " + std::to_string(number);
}

TEST_P(Messages, OfOneDirectionStayInOrder) {
  constexpr int kLetters = 24;
  const RunReport report = run(2, [](Rank& rank) {
    Group& world = rank.world();
    std::vector<Tensor> letters;
    std::vector<Work> works;
    for (int i = 0; i < kLetters; ++i) {
      if (rank.id() == 0) {
        letters.push_back(load(rank, letter(0, i, size_of_letter(i))));
        if (i % 3 == 0) {
          world.send(letters.back(), 1);
        } else {
          works.push_back(world.send_async(letters.back(), 1));
        }
      } else {
        letters.push_back(rank.empty(size_of_letter(i), Kind::buffer));
        if (i % 5 == 0) {
          world.recv(letters.back(), 0);
        } else {
          works.push_back(world.recv_async(letters.back(), 0));
        }
      }
    }
    std::reverse(works.begin(), works.end());
    for (Work& work : works) work.wait();  // any order of waiting will do
    if (rank.id() == 1) {
      for (int i = 0; i < kLetters; ++i) publish(rank, name_of_letter(i), letters[static_cast<std::size_t>(i)]);
    }
  });
  for (int i = 0; i < kLetters; ++i) {
    EXPECT_EQ(published(report, 1, name_of_letter(i)), letter(0, i, size_of_letter(i)));
  }
}

TEST_P(Messages, GoRoundInARing) {
  for (int ranks = least(2); ranks <= most(9); ++ranks) {
    for (const Count size : {Count{0}, Count{1}, Count{1000}}) {
      const RunReport report = run(ranks, [&](Rank& rank) {
        Group& world = rank.world();
        Tensor mine = load(rank, letter(rank.id(), 0, size));
        Tensor next = rank.empty(size, Kind::buffer);
        for (int step = 0; step + 1 < ranks; ++step) {
          world.send_recv(mine, (rank.id() + 1) % ranks, next, (rank.id() + ranks - 1) % ranks);
          copy(mine, next);
        }
        publish(rank, "mine", mine);
      });
      for (int r = 0; r < ranks; ++r) EXPECT_EQ(published(report, r, "mine"), letter((r + 1) % ranks, 0, size));
    }
  }
}

// At the ends of a chain one neighbour is nobody.
TEST_P(Messages, ToNobodyAreNothing) {
  for (int ranks = least(1); ranks <= most(5); ++ranks) {
    const RunReport report = run(ranks, [&](Rank& rank) {
      Group& world = rank.world();
      const int up = rank.id() + 1 < ranks ? rank.id() + 1 : kNobody;
      const int down = rank.id() > 0 ? rank.id() - 1 : kNobody;
      Tensor mine = load(rank, letter(rank.id(), 0, 5));
      Tensor below = load(rank, letter(99, 0, 5));
      Tensor above = load(rank, letter(98, 0, 5));
      world.send_recv(mine, up, below, down);
      Work sent = world.send_async(mine, down);
      world.recv(above, up);
      sent.wait();
      publish(rank, "below", below);
      publish(rank, "above", above);
    });
    for (int r = 0; r < ranks; ++r) {
      EXPECT_EQ(published(report, r, "below"), letter(r > 0 ? r - 1 : 99, 0, 5));
      EXPECT_EQ(published(report, r, "above"), letter(r + 1 < ranks ? r + 1 : 98, 0, 5));
    }
  }
}

// The case that has no consistent times if both ends were first-in first-out: everybody sends to the next two and
// receives in the other order.
TEST_P(Messages, ReceivedInAnotherOrderThanSent) {
  const RunReport report = run(3, [](Rank& rank) {
    Group& world = rank.world();
    const int next = (rank.id() + 1) % 3;
    const int last = (rank.id() + 2) % 3;
    Tensor a = load(rank, letter(rank.id(), 1, 300));
    Tensor b = load(rank, letter(rank.id(), 2, 40));
    Tensor from_next = rank.empty(40, Kind::buffer);
    Tensor from_last = rank.empty(300, Kind::buffer);
    Work first = world.send_async(a, next);
    Work second = world.send_async(b, last);
    world.recv(from_next, next);
    world.recv(from_last, last);
    first.wait();
    second.wait();
    publish(rank, "from next", from_next);
    publish(rank, "from last", from_last);
  });
  for (int r = 0; r < 3; ++r) {
    EXPECT_EQ(published(report, r, "from next"), letter((r + 1) % 3, 2, 40));
    EXPECT_EQ(published(report, r, "from last"), letter((r + 2) % 3, 1, 300));
  }
}

// Two stages, two chunks each: forward and backward go along the same pair of ranks. With a group for each direction
// both receives are posted ahead and nothing is swapped.
TEST_P(Messages, OfTwoGroupsOfTheSameRanks) {
  constexpr int kSteps = 12;
  const RunReport report = run(2, [](Rank& rank) {
    Group down = rank.world().split(0, 0, "down");
    Group up = rank.world().split(0, 0, "up");
    const int other = 1 - rank.id();
    std::vector<Tensor> forward, backward;
    std::vector<Work> works;
    for (int i = 0; i < kSteps; ++i) {
      forward.push_back(rank.empty(8, Kind::buffer));
      backward.push_back(rank.empty(8, Kind::buffer));
      works.push_back(up.recv_async(backward.back(), other));
      works.push_back(down.recv_async(forward.back(), other));
    }
    for (int i = 0; i < kSteps; ++i) {
      Tensor out = load(rank, letter(rank.id(), 2 * i, 8));
      works.push_back(down.send_async(out, other).keep(std::move(out)));
      up.send(load(rank, letter(rank.id(), 2 * i + 1, 8)), other);
    }
    for (Work& work : works) work.wait();
    for (int i = 0; i < kSteps; ++i) {
      publish(rank, name_of_letter(2 * i), forward[static_cast<std::size_t>(i)]);
      publish(rank, name_of_letter(2 * i + 1), backward[static_cast<std::size_t>(i)]);
    }
  });
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 2 * kSteps; ++i) EXPECT_EQ(published(report, r, name_of_letter(i)), letter(1 - r, i, 8));
  }
}

TEST_P(Messages, BetweenAllPairsAtOnce) {
  for (int ranks = least(2); ranks <= most(9); ++ranks) {
    const RunReport report = run(ranks, [&](Rank& rank) {
      Group& world = rank.world();
      Tensor mine = load(rank, letter(rank.id(), 3, 20));
      std::vector<Tensor> from(static_cast<std::size_t>(ranks));
      std::vector<Work> works;
      for (int r = 0; r < ranks; ++r) {
        if (r == rank.id()) continue;
        from[static_cast<std::size_t>(r)] = rank.empty(20, Kind::buffer, DType::f32);
        works.push_back(world.recv_async(from[static_cast<std::size_t>(r)], r));
        works.push_back(world.send_async(mine, r));
      }
      for (Work& work : works) work.wait();
      for (int r = 0; r < ranks; ++r) {
        if (r != rank.id()) publish(rank, name_of_letter(r), from[static_cast<std::size_t>(r)]);
      }
    });
    for (int r = 0; r < ranks; ++r) {
      for (int from = 0; from < ranks; ++from) {
        if (from != r) {
          EXPECT_EQ(published(report, r, name_of_letter(from)), letter(from, 3, 20));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(World, Messages, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
