/// \file
/// Small trainings for tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "front/clock/cluster.h"
#include "train/checkpoint.h"
#include "train/text.h"
#include "train/trainer.h"

/// The solution of puzzle 33.
void train_step(shardlings::Rank& rank, const shardlings::Model& model, const shardlings::GridShare& share,
                const shardlings::Batch& batch, float limit, shardlings::View loss);

namespace shardlings::train {

/// A folder that is gone at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "shardlings_train_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Eight sequences a step, whatever the layout; no checkpoint.
inline Settings small_training(const Layout& layout, int micro_batches, int steps) {
  constexpr Count kSequences = 8;
  Settings settings;
  settings.layout = layout;
  settings.text = SHARDLINGS_SOURCE_FOLDER "/runtime/train/text.txt";
  cases::Case& kase = settings.kase;
  kase.ranks = layout.ranks();
  kase.batches = layout.d;
  kase.micro_batches = micro_batches;
  kase.batch = kSequences / layout.d / micro_batches;
  kase.steps = steps;
  model::ModelSpec& model = kase.model;
  model.family = model::ModelSpec::Family::gpt;
  model.layers = 2;
  model.hidden = 16;
  model.heads = 4;
  model.sequence = 16;
  model.outputs = Text::read(settings.text).vocabulary();
  model.tied = true;
  model.optimizer = model::ModelSpec::Optimizer::adam;
  model.lr = 3e-3F;
  model.eps = 1e-8F;
  model.clip = 1;
  return settings;
}

/// One in which all numbers are that one.
inline Checkpoint filled(const Settings& settings, float value) {
  Checkpoint checkpoint = empty_checkpoint(settings);
  checkpoint.step = static_cast<int>(value);
  for (Checkpoint::Layer& layer : checkpoint.layers) {
    for (auto* numbers : {&layer.weights, &layer.m, &layer.v}) std::fill(numbers->begin(), numbers->end(), value);
  }
  return checkpoint;
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline bool go_on(const StepReport& /*step*/) {
  return true;
}

}  // namespace shardlings::train
