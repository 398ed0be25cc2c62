#include "cli/terminal/train_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/error.h"
#include "cli/terminal/memory_text.h"
#include "report/harmless.h"
#include "train/trainer.h"

namespace shardlings::cli::terminal {
namespace {

using nlohmann::json;
using report::Charset;
using report::Role;

std::string bar(double part, int columns, Charset charset) {
  const int full = static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * columns));
  std::string text;
  for (int i = 0; i < columns; ++i) {
    if (charset == Charset::ascii) {
      text += i < full ? "#" : ".";
    } else {
      text += i < full ? "█" : "░";
    }
  }
  return text;
}

std::string rate_text(double rate) {
  return rate < 1000 ? fmt::format("{:.0f}", rate) : fmt::format("{:.1f}k", rate / 1000);
}

}  // namespace

TrainReport::TrainReport(const Context& context, train::Settings settings)
    : context_(context), settings_(std::move(settings)), begin_(std::chrono::steady_clock::now()), last_(begin_) {}

void TrainReport::add_step(const json& line) {
  step_ = line.value("step", step_);
  if (losses_.empty()) first_step_ = step_ - 1;
  const json loss = line.value("loss", json());
  losses_.push_back(loss.is_number() ? loss.get<double>() : std::nan(""));
  virtual_ns_ += line.value("virtual_ns", 0.0);
  last_ = std::chrono::steady_clock::now();
}

void TrainReport::end(const json& line) {
  end_ = line.value("end", "failed");
  message_ = line.value("message", "");
  first_step_ = line.value("first_step", first_step_);
  step_ = std::max(step_, first_step_);
  const json memory = line.value("memory", json::object());
  peak_ = memory.value("peak", std::int64_t{0});
  const json by_kind = memory.value("by_kind", json::object());
  for (const auto& [kind, bytes] : by_kind.items()) {
    if (bytes.get<std::int64_t>() > 0) kinds_.emplace_back(kind, bytes.get<std::int64_t>());
  }
  std::stable_sort(kinds_.begin(), kinds_.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
}

void TrainReport::add_output(const std::string& line) {
  constexpr std::size_t kMost = 4096;
  if (output_.size() < kMost) output_ += line + "\n";
}

void TrainReport::end_early(const std::string& how, const std::string& end) {
  end_ = end;
  message_ = how;
}

double TrainReport::tokens_per_second() const {
  const double seconds = std::chrono::duration<double>(last_ - begin_).count();
  const auto tokens = static_cast<double>(sequences_of_step(settings_) * settings_.kase.model.sequence);
  return seconds > 0 ? static_cast<double>(losses_.size()) * tokens / seconds : 0;
}

double TrainReport::utilization() const {
  const front::Cluster& cluster = settings_.kase.cluster;
  if (cluster.uses_table || virtual_ns_ <= 0) return 0;
  const double peak = cluster.roofline.flops_per_second * settings_.layout.ranks();
  return static_cast<double>(losses_.size()) * train::flops_of_step(settings_) / (virtual_ns_ * 1e-9 * peak);
}

std::string TrainReport::progress() const {
  if (losses_.empty()) return "";
  const int steps = settings_.kase.steps;
  constexpr int kBar = 20, kMfu = 14, kSeconds = 10;  // columns; the last of what stands behind the line
  const std::string made = fmt::format("step {} of {}  ", step_, steps);
  std::string rest = fmt::format("loss {:.3f}  {} tokens/s", losses_.back(), rate_text(tokens_per_second()));
  const int room = context_.width - kSeconds - columns_of(made + rest);
  if (utilization() > 0 && room >= kBar + kMfu) rest += fmt::format("  MFU {:.2g} %", 100 * utilization());
  if (room < kBar + 2) return made + rest;
  return made + bar(static_cast<double>(step_) / steps, kBar, context_.charset) + "  " + rest;
}

std::string TrainReport::layout_text() const {
  const train::Layout& layout = settings_.layout;
  return fmt::format("{} rank{}: tp {} x pp {} x dp {}{}, {} micro-batch{} of {} sequence{}{}", layout.ranks(),
                     layout.ranks() == 1 ? "" : "s", layout.t, layout.p, layout.d,
                     layout.v > 1 ? fmt::format(", {} chunks on each", layout.v) : "", settings_.kase.micro_batches,
                     settings_.kase.micro_batches == 1 ? "" : "es", settings_.kase.batch,
                     settings_.kase.batch == 1 ? "" : "s", layout.recompute ? ", recomputing" : "");
}

std::string TrainReport::memory_text() const {
  std::string text = fmt::format("memory   {} at most on a rank", size_text(Bytes(peak_)));
  const char* between = ": ";
  for (const auto& [kind, bytes] : kinds_) {
    text += fmt::format("{}{} {}", between, kind, size_text(Bytes(bytes)));
    between = ", ";
  }
  return text + "\n";
}

std::string TrainReport::how_to_go_on() const {
  const std::string file = system::shown_path(settings_.checkpoint);
  if (end_ == "stopped") return fmt::format("Saved in {}. The same command goes on from there.\n", file);
  if (end_ != "finished") return "";
  return fmt::format("Saved in {}. More steps go on from there: --steps {}; --fresh begins anew.\n", file,
                     2 * settings_.kase.steps);
}

std::string TrainReport::as_text() const {
  const std::string message = report::harmless(message_, context_.charset);
  std::string text = report::harmless(output_, context_.charset);
  if (end_ == "refused" || (end_ == "fault" && losses_.empty())) return text + message + "\n";
  text += context_.paint(Role::strong, layout_text()) + "\n";
  if (first_step_ > 0)
    text += fmt::format("begun    after step {}, from {}\n", first_step_, system::shown_path(settings_.checkpoint));
  if (losses_.empty() && message_.empty()) text += "No step was left to make.\n";
  if (!losses_.empty()) {
    text += fmt::format("loss     {:.4f} at step {}, {:.4f} at step {}\n", losses_.front(), first_step_ + 1,
                        losses_.back(), step_);
    text += fmt::format("speed    {} tokens/s measured on this machine\n", rate_text(tokens_per_second()));
    text += fmt::format("cluster  {} of {}: {} a step{}\n", layout_text().substr(0, layout_text().find(':')),
                        settings_.kase.cluster.name,
                        to_text(Nanos(static_cast<std::int64_t>(virtual_ns_ / static_cast<double>(losses_.size())))),
                        utilization() > 0 ? fmt::format(", MFU {:.2g} %", 100 * utilization()) : "");
  }
  if (peak_ > 0) text += memory_text();
  if (end_ == "diverged") text += "The loss is no number any more: training has diverged. Try a smaller --lr.\n";
  if (!message.empty()) text += message + "\n";
  return text + how_to_go_on();
}

std::string TrainReport::as_json() const {
  json kinds = json::object();
  for (const auto& [kind, bytes] : kinds_) kinds[kind] = bytes;
  json losses = json::array();
  for (const double loss : losses_) losses.push_back(std::isfinite(loss) ? json(loss) : json());
  const train::Layout& layout = settings_.layout;
  const json all = {{"end", end_},
                    {"message", message_},
                    {"layout",
                     {{"tp", layout.t},
                      {"pp", layout.p},
                      {"vp", layout.v},
                      {"dp", layout.d},
                      {"zero", 1},
                      {"recompute", layout.recompute},
                      {"micro_batches", settings_.kase.micro_batches}}},
                    {"first_step", first_step_},
                    {"step", step_},
                    {"losses", losses},
                    {"tokens_per_second", tokens_per_second()},
                    {"cluster", settings_.kase.cluster.name},
                    {"virtual_ns", virtual_ns_},
                    {"mfu", utilization()},
                    {"memory", {{"peak", peak_}, {"by_kind", kinds}}},
                    {"checkpoint", settings_.checkpoint}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

int TrainReport::status() const {
  if (end_ == "finished") return kPassed;
  if (end_ == "fault") return kNotJudged;
  return end_ == "refused" ? kWrongUse : kFailed;
}

}  // namespace shardlings::cli::terminal
