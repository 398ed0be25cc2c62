// Checkpoints: any layout goes on where another one stopped, whatever happens to the process.
#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "train/trainings.h"

namespace shardlings::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
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

/// Opening a pipe to which nobody writes would wait without end.
TEST(Checkpoints, ThatAreNoFilesAreRefused) {
  const Folder folder;
  const Settings settings = small_training({}, 1, 1);
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const std::string& path : {folder.file("pipe"), std::string("/dev/null"), std::string("/dev")}) {
    EXPECT_THAT(error_of([&] { load(path, settings, Text::read(settings.text)); }), HasSubstr("is no file")) << path;
  }
}

TEST(Checkpoints, OneWrongBitIsNoticed) {
  const Folder folder;
  const Settings settings = small_training({}, 1, 1);
  const Text text = Text::read(settings.text);
  save(folder.file("a"), filled(settings, 1), settings, text);
  const std::string whole = content_of(folder.file("a"));
  const std::size_t step = whole.find("\"step\":1") + 7;
  for (const std::size_t at : {step, whole.find('\n') + 1, whole.size() / 2, whole.size() - 17, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 2);
    std::ofstream(folder.file("b"), std::ios::binary) << damaged;
    EXPECT_THAT(
        error_of([&] { load(folder.file("b"), settings, text); }),
        AllOf(HasSubstr(folder.file("b")), HasSubstr("is damaged: its checksum is another one"), HasSubstr("--fresh")))
        << at;
  }
  std::ofstream(folder.file("b"), std::ios::binary) << whole;
  EXPECT_EQ(load(folder.file("b"), settings, text).step, 1);
}

TEST(Checkpoints, StepsThatNobodyHasMadeAreRefused) {
  const Folder folder;
  const Settings settings = small_training({}, 1, 1);
  const Text text = Text::read(settings.text);
  save(folder.file("a"), filled(settings, 1), settings, text);
  const std::string whole = content_of(folder.file("a"));
  for (const char* step : {"-1", "1e9", "99999999999999999999", "2147483647", "\"7\"", "null", "[]"}) {
    std::string other = whole;
    other.replace(other.find("\"step\":1"), 8, std::string("\"step\":") + step);
    std::ofstream(folder.file("b"), std::ios::binary) << other;
    EXPECT_THAT(error_of([&] { load(folder.file("b"), settings, text); }),
                AllOf(HasSubstr("is damaged: it says that "), HasSubstr(" steps were made")))
        << step;
  }
}

TEST(Checkpoints, OfTheFirstFormatAreRead) {
  const Folder folder;
  const Settings settings = small_training({}, 1, 1);
  const Text text = Text::read(settings.text);
  save(folder.file("a"), filled(settings, 3), settings, text);
  std::string bytes = content_of(folder.file("a"));
  bytes.resize(bytes.size() - 16);
  bytes.replace(bytes.find("checkpoint 2"), 12, "checkpoint 1");
  std::ofstream(folder.file("a"), std::ios::binary) << bytes;
  EXPECT_EQ(load(folder.file("a"), settings, text).step, 3);
  bytes.replace(bytes.find("checkpoint 1"), 12, "checkpoint 9");
  std::ofstream(folder.file("a"), std::ios::binary) << bytes;
  EXPECT_THAT(error_of([&] { load(folder.file("a"), settings, text); }), HasSubstr("by another version"));
}

TEST(Checkpoints, LeftoversOfKilledWritersGo) {
  const Folder folder;
  Settings settings = small_training({}, 1, 1);
  settings.checkpoint = folder.file("checkpoint");
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const std::string gone = folder.file("checkpoint." + std::to_string(child) + ".new");
  const std::string alive = folder.file("checkpoint." + std::to_string(getppid()) + ".new");
  const std::string others = folder.file("checkpoint.mine.new"), another = folder.file("other.1.new");
  for (const std::string& file : {gone, alive, others, another}) std::ofstream(file) << "half";
  train(settings, &train_step, go_on);
  EXPECT_FALSE(std::filesystem::exists(gone));
  EXPECT_TRUE(std::filesystem::exists(alive)) << "it may still write";
  EXPECT_TRUE(std::filesystem::exists(others));
  EXPECT_TRUE(std::filesystem::exists(another));
  EXPECT_TRUE(std::filesystem::exists(settings.checkpoint));
}

TEST(Checkpoints, TrainingStopsWhereItCannotBeSaved) {
  const Folder folder;
  Settings settings = small_training({1, 2, 1}, 2, 9);
  settings.save_every = 2;
  settings.checkpoint = folder.file("checkpoint");
  const auto take_the_folder_away = [&](const StepReport& report) {
    if (report.step == 2) std::ofstream(folder.file("blocked")) << "x";
    return true;
  };
  settings.checkpoint = folder.file("blocked/checkpoint");
  const Trained trained = train(settings, &train_step, take_the_folder_away);
  EXPECT_EQ(trained.losses.size(), 2U);
  EXPECT_EQ(trained.failure, "");
  EXPECT_THAT(trained.fault, AllOf(HasSubstr("Step 2 cannot be saved"), HasSubstr(settings.checkpoint)));
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
