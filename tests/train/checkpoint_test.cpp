// Checkpoints: any layout goes on where another one stopped, whatever happens to the process.
#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "train/trainings.h"

namespace shardlings::train {
namespace {

using testing::HasSubstr;

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

Checkpoint filled(const Settings& settings, float value) {
  Checkpoint checkpoint = empty_checkpoint(settings);
  checkpoint.step = static_cast<int>(value);
  for (Checkpoint::Layer& layer : checkpoint.layers) {
    for (auto* numbers : {&layer.weights, &layer.m, &layer.v}) std::fill(numbers->begin(), numbers->end(), value);
  }
  return checkpoint;
}

TEST(Checkpoints, AnotherLayoutGoesOnWhereOneHasStopped) {
  const Folder folder;
  const std::vector<double> whole = train(small_training({}, 1, 8), &train_step, go_on).losses;
  Settings settings = small_training({2, 1, 2}, 2, 5);
  settings.checkpoint = folder.file("checkpoint");
  EXPECT_EQ(train(settings, &train_step, go_on).first_step, 0);
  settings = small_training({1, 2, 1, false, 2}, 4, 7);
  settings.checkpoint = folder.file("checkpoint");
  const Trained middle = train(settings, &train_step, go_on);
  settings = small_training({1, 4, 1}, 4, 8);
  settings.checkpoint = folder.file("checkpoint");
  const Trained rest = train(settings, &train_step, go_on);
  EXPECT_EQ(middle.first_step, 5);
  EXPECT_EQ(rest.first_step, 7);
  ASSERT_EQ(middle.losses.size(), 2U);
  ASSERT_EQ(rest.losses.size(), 1U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(middle.losses[i], whole[5 + i], 1e-3 * whole[5 + i]);
  EXPECT_NEAR(rest.losses[0], whole[7], 1e-3 * whole[7]);
  settings.fresh = true;
  EXPECT_EQ(train(settings, &train_step, go_on).losses.size(), 8U);
}

TEST(Checkpoints, AreWrittenWhenSomebodyWantsToStop) {
  const Folder folder;
  Settings settings = small_training({1, 2, 2}, 2, 50);
  settings.checkpoint = folder.file("deep/inside/checkpoint");
  const auto stop_after_3 = [](const StepReport& report) { return report.step < 3; };
  EXPECT_EQ(train(settings, &train_step, stop_after_3).losses.size(), 3U);
  EXPECT_EQ(load(settings.checkpoint, settings, Text::read(settings.text)).step, 3);
}

TEST(Checkpoints, OfAnotherModelOrTextAreRefused) {
  const Folder folder;
  const Settings settings = small_training({}, 1, 1);
  const Text text = Text::read(settings.text);
  save(folder.file("a"), filled(settings, 1), settings, text);
  Settings other = settings;
  other.kase.model.hidden = 32;
  other.kase.model.layers = 3;
  EXPECT_THAT(error_of([&] { load(folder.file("a"), other, text); }),
              HasSubstr("is that of another model: hidden 16 instead of 32, layers 2 instead of 3"));
  EXPECT_THAT(error_of([&] { load(folder.file("a"), settings, Text("another text")); }), HasSubstr("text \""));
  std::ofstream(folder.file("b")) << "something else\n";
  EXPECT_THAT(error_of([&] { load(folder.file("b"), settings, text); }), HasSubstr("is not a checkpoint"));
  std::filesystem::resize_file(folder.file("a"), std::filesystem::file_size(folder.file("a")) - 1);
  EXPECT_THAT(error_of([&] { load(folder.file("a"), settings, text); }), HasSubstr("is damaged"));
  EXPECT_THAT(error_of([&] { load(folder.file("c"), settings, text); }), HasSubstr("cannot read"));
  EXPECT_THAT(error_of([&] { save("/proc/nowhere/c", filled(settings, 1), settings, text); }),
              HasSubstr("cannot write"));
}

TEST(Checkpoints, SurviveAKillAtAnyMoment) {
  const Folder folder;
  const Settings settings = small_training({}, 1, 1);
  const Text text = Text::read(settings.text);
  const std::string file = folder.file("checkpoint");
  save(file, filled(settings, 1), settings, text);
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (float value = 2;; ++value) save(file, filled(settings, value), settings, text);
    }
    usleep(static_cast<useconds_t>(500 * i));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const Checkpoint found = load(file, settings, text);
    for (const Checkpoint::Layer& layer : found.layers) {
      EXPECT_EQ(layer.weights.front(), static_cast<float>(found.step));
      EXPECT_EQ(layer.v.back(), static_cast<float>(found.step)) << "all of one step";
    }
  }
}

TEST(TrainSettings, CrossToTheProcessThatTrains) {
  Settings settings = small_training({2, 3, 4, true, 2}, 1, 7);
  settings.checkpoint = "c";
  settings.fresh = true;
  settings.save_every = 9;
  EXPECT_EQ(to_json(settings_from_json(to_json(settings))), to_json(settings));
  EXPECT_THROW(settings_from_json("{}"), std::runtime_error);
}

}  // namespace
}  // namespace shardlings::train
