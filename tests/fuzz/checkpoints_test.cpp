// Whatever stands in a checkpoint, it is gone on from or refused.
#include "train/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "fuzz/damage.h"
#include "fuzz/fuzz.h"
#include "train/trainings.h"

namespace shardlings::train {
namespace {

/// The smallest there is, so that most of what is changed has a meaning.
Settings tiny_training(const Text& text) {
  Settings settings = small_training({}, 1, 1);
  settings.kase.model.layers = 1;
  settings.kase.model.hidden = 2;
  settings.kase.model.heads = 1;
  settings.kase.model.sequence = 2;
  settings.kase.model.outputs = text.vocabulary();
  return settings;
}

/// The first format, which has no checksum: whatever is changed is looked at.
std::string without_checksum(std::string bytes) {
  constexpr std::size_t kChecksum = 16;
  bytes.resize(bytes.size() - kChecksum);
  const std::string now = "checkpoint 2";
  return bytes.replace(bytes.find(now), now.size(), "checkpoint 1");
}

/// Its head, the line that says what there is, or all of it.
std::string changed(const std::string& whole, fuzz::Damage& damage, bool head) {
  const std::size_t end = whole.find('\n', whole.find('{'));
  return head ? damage(whole.substr(0, end)) + whole.substr(end) : damage(whole);
}

bool is_refused(const std::string& file, const std::string& bytes, const Settings& settings, const Text& text) {
  std::ofstream(file, std::ios::binary) << bytes;
  try {
    const Checkpoint read = load(file, settings, text);
    EXPECT_GE(read.step, 0);
    EXPECT_EQ(read.layers.size(), empty_checkpoint(settings).layers.size());
    return false;
  } catch (const UnfitCheckpoint&) {
    return true;
  }
}

TEST(FuzzCheckpoints, AreGoneOnFromOrRefused) {
  const Folder folder;
  const Text text("a text of a few letters");
  const Settings settings = tiny_training(text);
  save(folder.file("a"), filled(settings, 1), settings, text);
  const std::string whole = content_of(folder.file("a")), plain = without_checksum(whole);
  fuzz::Damage damage(fuzz::seed(3));
  const std::int64_t tries = fuzz::tries(600);
  std::int64_t refused = 0;
  for (std::int64_t i = 0; i < tries; ++i) {
    const bool checked = i % 4 == 0;
    const std::string other = changed(checked ? whole : plain, damage, i % 2 == 0);
    const bool was_refused = is_refused(folder.file("b"), other, settings, text);
    if (checked && other != whole) {
      EXPECT_TRUE(was_refused) << "try " << i << ": a checksum that fits nothing";
    }
    refused += was_refused ? 1 : 0;
  }
  std::cout << tries << " checkpoints, " << refused << " of them refused\n";
  EXPECT_GT(refused, tries / 4);
}

}  // namespace
}  // namespace shardlings::train
