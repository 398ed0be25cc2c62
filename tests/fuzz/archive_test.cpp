// What comes back from a jail may be anything. Nothing but BadPack or the port's doubt may come of it.
#include "boundary/archive.h"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "boundary/doubting_port.h"
#include "boundary/thrown.h"
#include "fuzz/fuzz.h"

namespace shardlings::boundary {
namespace {

using Random = std::mt19937_64;

/// What a learner's function may have changed, and what it may have returned.
struct Answers {
  TrainState state;
  std::vector<Tensor> tensors;
  std::vector<Range> ranges;
  Shape shape;
  Group group;
  View view;
  MixedPrecision mixed;

  void operator()(auto& archive) { archive(state, tensors, ranges, shape, group, view, mixed); }
};

/// Of a jail that is in order. Its tensors are empty: the port knows none.
std::string sound_bytes(Random& random) {
  Answers answers;
  answers.state.weights.resize(random() % 4);
  answers.state.optimizer.resize(random() % 4);
  answers.tensors.resize(random() % 4);
  answers.ranges.resize(random() % 4);
  if (random() % 2 == 0) answers.shape = {2, 3};
  Sender sender;
  answers(sender);
  if (random() % 4 == 0) send(sender, {ThrownKind::misuse, Misuse::race, "race: …", "puzzle.cpp", 7});
  return sender.take();
}

std::string changed_bytes(Random& random) {
  std::string bytes = sound_bytes(random);
  for (std::uint64_t changes = random() % 5; changes > 0; --changes) {
    bytes[random() % bytes.size()] = static_cast<char>(random() % 4 == 0 ? random() % 4 : random());
  }
  if (random() % 4 == 0) bytes.resize(random() % bytes.size());
  return bytes;
}

std::string noise(Random& random) {
  std::string bytes(random() % 200, 0);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

/// Whether they were taken. Anything else that is thrown ends the test.
bool is_taken(const std::string& bytes, Doubting& port) {
  Answers arrived;
  Receiver receiver(bytes, &port, port);
  try {
    arrived(receiver);
    receive_thrown(receiver);
    return true;
  } catch (const BadPack&) {
    return false;
  } catch (const InvalidArgument&) {
    return false;
  }
}

TEST(FuzzArchive, AnyBytesAreTakenOrRefused) {
  Random random(fuzz::seed(7));
  Doubting port;
  const std::int64_t tries = fuzz::tries(20'000);
  std::int64_t refused = 0;
  for (std::int64_t i = 0; i < tries; ++i) {
    if (!is_taken(i % 2 == 0 ? changed_bytes(random) : noise(random), port)) ++refused;
  }
  std::cout << tries << " answers of jails, " << refused << " of them refused\n";
  EXPECT_GT(refused, tries / 2);
  EXPECT_LT(refused, tries);
}

}  // namespace
}  // namespace shardlings::boundary
