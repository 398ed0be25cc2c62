#include "grading/formulas/divided_head.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parts.h"

namespace shardlings::grading::formulas {

Count taken_begin(Count vocabulary, int ranks, int rank, TakenBegin begin) {
  const Range part = part_of(vocabulary, ranks, rank);
  switch (begin) {
    case TakenBegin::none: return 0;
    case TakenBegin::own_length_times_rank: return rank * part.size();
    case TakenBegin::shortest_times_rank: return rank * (vocabulary / ranks);
    case TakenBegin::right: break;
  }
  return part.begin;
}

DividedHead::DividedHead(std::vector<double> x, const std::vector<double>& weight, std::vector<std::int32_t> targets,
                         Count width, int ranks)
    : x_(std::move(x)),
      targets_(std::move(targets)),
      tokens_(static_cast<Count>(targets_.size())),
      width_(width),
      vocabulary_(static_cast<Count>(weight.size()) / width),
      ranks_(ranks) {
  for (Count token = 0; token < tokens_; ++token) {
    const auto row = x_.begin() + token * width_;
    for (Count column = 0; column < vocabulary_; ++column) {
      logits_.push_back(std::inner_product(row, row + width_, weight.begin() + column * width_, 0.0));
    }
  }
}

double DividedHead::loss(const HeadMistake& mistake, int rank) const {
  double total = 0;
  for (Count token = 0; token < tokens_; ++token) {
    double sum = 0, hits = 0;
    for (int r = 0; r < ranks_; ++r) {
      if (!mistake.own_sum || r == rank) sum += exponentials(token, r, mistake.own_top ? top(token, r) : top(token));
      if (!mistake.own_hit || r == rank) hits += hit(token, r, mistake);
    }
    total += std::log(sum * mistake.sum_factor) + (mistake.own_top ? top(token, rank) : top(token)) - hits;
  }
  return total / static_cast<double>(tokens_);
}

std::vector<double> DividedHead::weight_gradient(double one, Denominator denominator) const {
  std::vector<double> gradient(static_cast<std::size_t>(vocabulary_ * width_));
  for (Count token = 0; token < tokens_; ++token) {
    double sum = 0;
    for (int r = 0; r < ranks_; ++r) sum += exponentials(token, r, top(token));
    for (int r = 0; r < ranks_; ++r) {
      const double own = exponentials(token, r, top(token));
      const double below = denominator == Denominator::sum ? sum : denominator == Denominator::own_sum ? own : 1;
      for (Count column = part(r).begin; column < part(r).end; ++column) {
        double of_logit = std::exp(logit(token, column) - top(token)) / below;
        if (column == targets_[static_cast<std::size_t>(token)]) of_logit -= one;
        for (Count k = 0; k < width_; ++k) {
          gradient[static_cast<std::size_t>(column * width_ + k)] +=
              of_logit * x_[static_cast<std::size_t>(token * width_ + k)] / static_cast<double>(tokens_);
        }
      }
    }
  }
  return gradient;
}

double DividedHead::logit(Count token, Count column) const {
  return logits_[static_cast<std::size_t>(token * vocabulary_ + column)];
}

Range DividedHead::part(int rank) const {
  return part_of(vocabulary_, ranks_, rank);
}

double DividedHead::top(Count token, int rank) const {
  const auto row = logits_.begin() + token * vocabulary_;
  return *std::max_element(row + part(rank).begin, row + part(rank).end);
}

double DividedHead::top(Count token) const {
  const auto row = logits_.begin() + token * vocabulary_;
  return *std::max_element(row, row + vocabulary_);
}

double DividedHead::exponentials(Count token, int rank, double shift) const {
  double sum = 0;
  for (Count column = part(rank).begin; column < part(rank).end; ++column)
    sum += std::exp(logit(token, column) - shift);
  return sum;
}

double DividedHead::hit(Count token, int rank, const HeadMistake& mistake) const {
  const Count column =
      targets_[static_cast<std::size_t>(token)] - taken_begin(vocabulary_, ranks_, rank, mistake.begin);
  if (column < 0 || column >= part(rank).size()) return 0;
  const double z = logit(token, part(rank).begin + column);
  return mistake.late_hit ? std::exp(z - top(token)) : z;
}

}  // namespace shardlings::grading::formulas
