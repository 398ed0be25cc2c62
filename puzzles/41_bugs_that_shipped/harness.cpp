// Runs the learner's program of the case; then shows the learner's test the logs of three others: the program as it was
// published, and two right ones.

#include "submission/harness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "training.h"

using namespace shardlings;
using submission::Harness;

/// Makes a Machine, and lets the learner's program `setup.program` make its steps with it.
SHARDLINGS_LEARNER_FUNCTION(run_program, void(Rank& rank, Setup setup, View first_grads, View read));
SHARDLINGS_LEARNER_FUNCTION(row_parallel, Tensor(ConstView x, const Linear& part, Group& tp));
SHARDLINGS_LEARNER_FUNCTION(suspicious, bool(const std::vector<LogLine>& log, Count data));

#ifdef SHARDLINGS_BESIDE_LEARNER

void scaled_step(Training& t);
void pipelined_step(Training& t);
void cleared_step(Training& t);
void synchronized_step(Training& t);
void loaded_step(Training& t);

void run_program(Rank& rank, Setup setup, View first_grads, View read) {
  constexpr std::array kPrograms = {scaled_step,  pipelined_step,    cleared_step,
                                    cleared_step, synchronized_step, loaded_step};
  Count at = 0;
  run_steps(
      rank, setup, kPrograms.at(static_cast<std::size_t>(setup.program - 1)),
      [&](int step, const Machine& machine) {
        if (step == 0 && machine.updates == 0) copy(first_grads, setup.grads);  // nobody has given it to the optimizer
        for (const Count sample : machine.read) {
          if (at < read.size()) fill(read.part({at, at + 1}), static_cast<float>(sample));
          ++at;
        }
      },
      first_grads);
}

#else

namespace {

/// Which of the case's tensors is which: grader.cpp draws the same ones. The weights of stage s are kWeights + s.
enum Drawn : int { kInputs, kTargets, kBias, kWeights };

/// `faulty` has another, smaller fault than the published one.
enum Version : int { shipped, right, variant, faulty };

/// ---- The programs as they were published, as they should have been, and right in another way ----

void reduce(Training& t) {
  t.dp.all_reduce(t.grads, ReduceOp::mean);
  t.machine->sent += ring_bytes(t.dp, t.grads.size());
}

/// Micro-batch i, counted from the last one in the other right program.
int turn(const Training& t, int i, Version version) {
  return version == variant ? t.micro_batches - 1 - i : i;
}

void scaled(Training& t, Version version) {
  for (int i = 0; i < t.micro_batches; ++i) {
    forward(t, turn(t, i, version));
    backward(t, turn(t, i, version), version == variant ? t.share : 1);
    if (version == shipped) scale(t.grads, t.share);
  }
  if (version == right) scale(t.grads, t.share);
  reduce(t);
  update(t);
}

void pipelined(Training& t, Version version) {
  for (int i = 0; i < t.micro_batches; ++i) forward(t, i);
  for (int i = 0; i < t.micro_batches; ++i) backward(t, i, version == right ? t.share : 1);
  if (version == variant) scale(t.grads, t.share);
  update(t);
}

void cleared(Training& t, Version version) {
  for (int i = 0; i < t.micro_batches; ++i) {
    if (version == shipped) fill(t.grads, 0);
    forward(t, turn(t, i, version));
    backward(t, turn(t, i, version), t.share);
  }
  reduce(t);
  update(t);
}

void synchronized(Training& t, Version version) {
  for (int i = 0; i < t.micro_batches; ++i) {
    const bool last = i + 1 == t.micro_batches;
    if (version != shipped) t.sync = last || version == variant;
    forward(t, i);
    t.sync = last;
    backward(t, i, t.share);
  }
  update(t);
}

void loaded(Training& t, Version version) {
  Loader again = t.loader;
  Loader& loader = version == shipped ? again : t.loader;
  for (int i = 0; i < t.micro_batches; ++i) {
    t.first[static_cast<std::size_t>(i)] = loader.next(t.samples);
    forward(t, i);
    backward(t, i, t.share);
  }
  reduce(t);
  update(t);
}

constexpr std::array kPrograms = {scaled, pipelined, cleared, cleared, synchronized, loaded};

Tensor row_parallel_product(ConstView x, const Linear& part, Group& tp, Version version) {
  Tensor y = matmul(x, part.weight, nt);
  if (version == shipped || (version == variant && tp.rank() == 0)) add_bias(y, part.bias);
  tp.all_reduce(y, ReduceOp::sum);
  if (version == right) add_bias(y, part.bias);
  return y;
}

// ---- The case ----

class Bench {
 public:
  explicit Bench(Harness& h)
      : h_(h),
        world_(h.rank().world()),
        program_(static_cast<int>(h.integer("program"))),
        m_(static_cast<int>(h.integer("micro"))),
        width_(h.integer("width")),
        data_(h.integer("data")),
        inputs_(h.normals(kInputs, {data_ + 1, width_}, Kind::other)),
        targets_(h.normals(kTargets, {data_ + 1, width_}, Kind::other)),
        grads_(h.rank().zeros({width_, width_}, Kind::gradient)),
        alone_(world_.split(world_.rank(), 0, "alone")) {}

  bool pipelined() const { return program_ == 2; }
  Count data() const { return data_; }
  int program() const { return program_; }
  View grads() { return grads_; }

  /// This stage's, or every replica's.
  Tensor weights(Range columns) {
    const int stage = pipelined() ? world_.rank() : 0;
    const Tensor whole = h_.normals(kWeights + stage, {width_, width_}, Kind::parameter);
    Tensor part = slice_cols(whole, columns);
    scale(part, 0.5F / std::sqrt(static_cast<float>(width_)));
    return part;
  }
  Tensor weights() { return weights({0, width_}); }
  Tensor bias() {
    Tensor values = h_.normals(kBias, {width_}, Kind::parameter);
    scale(values, 0.1F);
    return values;
  }

  Setup setup(View weights, int micro_batches) {
    Setup made{.program = program_,
               .micro_batches = micro_batches,
               .steps = h_.kase().steps,
               .samples = h_.integer("samples") * m_ / micro_batches,
               .data = data_,
               .lr = static_cast<float>(h_.kase().number("lr")),
               .adam = pipelined(),
               .inputs = inputs_,
               .targets = targets_,
               .weights = weights,
               .grads = grads_,
               .dp = pipelined() ? alone_ : world_,
               .pp = pipelined() ? world_ : alone_,
               .order = {}};
    for (Count i = 0; i < data_; ++i) made.order.push_back(i);
    return made;
  }

  std::vector<LogLine> log(Version version);
  MatrixPart place() const {
    const Count stages = pipelined() ? world_.size() : 1, stage = pipelined() ? world_.rank() : 0;
    return {stages * width_, width_, {{stage * width_, (stage + 1) * width_}, {0, width_}}};
  }
  /// Rows of program 3, and this rank's columns of them.
  Count rows() const { return m_ * h_.integer("samples"); }
  Tensor columns(ConstView table, Range range) { return slice_cols(table.rows_part({0, rows()}), range); }
  ConstView inputs() const { return inputs_; }

 private:
  void add_run(std::vector<LogLine>& log, int run, Setup setup, Version version);
  void add_product(std::vector<LogLine>& log, int run, Group group, Version version);
  /// The sum over all ranks of rank `of`'s number, or of everybody's.
  float everywhere(ConstView number, int of = kNobody) {
    Tensor all = clone(number);
    if (of != kNobody) {
      world_.broadcast(all, of);
    } else {
      world_.all_reduce(all, ReduceOp::sum);
    }
    return h_.rank().read(all);
  }
  Tensor squares(ConstView of) {
    Tensor sum = h_.rank().zeros(1, Kind::other);
    add_squares(sum, of);
    return sum;
  }

  Harness& h_;
  Group& world_;
  int program_, m_;
  Count width_, data_;
  Tensor inputs_, targets_, grads_;
  Group alone_;
};

void Bench::add_run(std::vector<LogLine>& log, int run, Setup setup, Version version) {
  Tensor weights = this->weights();
  setup.weights = weights;
  const auto program = kPrograms.at(static_cast<std::size_t>(program_ - 1));
  run_steps(
      h_.rank(), setup, [&](Training& t) { program(t, version); },
      [&](int step, Machine& machine) {
        LogLine line{.run = run, .step = step, .samples = machine.read};
        const float replicas = pipelined() ? 1 : static_cast<float>(world_.size());
        line.loss = everywhere(machine.loss) / (replicas * static_cast<float>(setup.micro_batches));
        line.norm = std::sqrt(everywhere(squares(grads_), pipelined() ? kNobody : 0));
        for (int rank = 0; rank < (pipelined() ? 1 : world_.size()); ++rank) {
          line.replicas.push_back(std::sqrt(everywhere(squares(weights), pipelined() ? kNobody : rank)));
        }
        line.sent = static_cast<Count>(everywhere(h_.tensor({static_cast<float>(machine.sent)}, Kind::other), 0));
        log.push_back(std::move(line));
      });
}

void Bench::add_product(std::vector<LogLine>& log, int run, Group group, Version version) {
  const Range mine = group.mine(width_);
  const Tensor part = weights(mine), bias = this->bias();
  const Tensor x = columns(inputs_, {0, width_});
  Tensor y = row_parallel_product(columns(inputs_, mine), {part, bias, {}, {}}, group, version);
  axpy(y, -1, targets_.rows_part({0, rows()}));
  const float of_one = 1 / static_cast<float>(rows());
  LogLine line{.run = run};
  line.loss = everywhere(squares(y), 0) * of_one / 2;
  scale(y, of_one);
  fill(grads_, 0);
  matmul_add(grads_, y, x, tn);
  line.norm = std::sqrt(everywhere(squares(grads_), 0));
  line.sent = ring_bytes(group, y.size());
  for (Count i = 0; i < rows(); ++i) line.samples.push_back(i);
  log.push_back(std::move(line));
}

/// Every sample once, and not in order.
std::vector<Count> shuffled(Count n) {
  Count stride = 7;
  while (std::gcd(stride, n) != 1) stride += 2;
  std::vector<Count> order;
  for (Count i = 0; i < n; ++i) order.push_back(i * stride % n);
  return order;
}

/// Makes a faulty log of a right one. Program 5: the last replica alone is apart, by little, and is set right before
/// the run ends. Program 6: an epoch reads a micro-batch twice and another one not at all, which the next epoch makes
/// up for.
void spoil(std::vector<LogLine>& log, int program, Count samples) {
  if (program == 5) {
    for (std::size_t i = 0; i + 1 < log.size(); ++i) log[i].replicas.back() *= 1.001F;
  } else {
    std::vector<Count>& early = log.at(1).samples;
    std::swap_ranges(early.begin(), early.begin() + samples, log.back().samples.begin());
  }
}

/// What each program's log has: runs in one piece and in several, on one rank and on several, with a sample exchanged,
/// or one run alone.
std::vector<LogLine> Bench::log(Version version) {
  std::vector<LogLine> log;
  if (program_ == 3) {
    add_product(log, 0, alone_, version);
    add_product(log, 1, world_, version);
  } else if (program_ <= 2) {
    add_run(log, 0, setup({}, 1), version);
    add_run(log, 1, setup({}, m_), version);
  } else if (program_ == 4) {
    add_run(log, 0, setup({}, m_), version);
    Setup exchanged = setup({}, m_);
    std::swap(exchanged.order.front(), exchanged.order.back());  // the last one is not read otherwise
    add_run(log, 1, std::move(exchanged), version);
  } else {
    Setup run = setup({}, m_);
    // The other right run of program 6 goes on into another epoch.
    if (program_ == 6 && (version == variant || version == faulty)) run.steps *= 2;
    if (version == variant) run.order = shuffled(data_);
    add_run(log, 0, std::move(run), version == faulty ? right : version);
    if (version == faulty) spoil(log, program_, h_.integer("samples"));
  }
  return log;
}

/// Logs that nobody should object to, made of a right run: they tell what a test that objects to it may look at.
std::vector<std::vector<LogLine> > probes(const std::vector<LogLine>& right_log, Count data) {
  std::vector<LogLine> run;  // its first epoch
  Count read = 0;
  for (const LogLine& line : right_log) {
    read += static_cast<Count>(line.samples.size());
    if (run.empty() || (line.run == 0 && read <= data)) run.push_back(line);
  }
  std::vector<LogLine> turned = run;
  for (LogLine& line : turned) std::reverse(line.samples.begin(), line.samples.end());
  const auto beside = [&](auto change) {
    std::vector<LogLine> both = run;
    for (LogLine line : run) {
      line.run = 1;
      change(line);
      both.push_back(std::move(line));
    }
    return both;
  };
  constexpr float kRounding = 1 + 5e-7F;
  return {{run.front()},
          run,
          turned,
          beside([](LogLine&) {}),
          beside([](LogLine& line) { line.norm *= kRounding; }),
          beside([](LogLine& line) { std::reverse(line.samples.begin(), line.samples.end()); }),
          beside([](LogLine& line) { line.sent = 3 * line.sent + 1000; })};
}

/// What the learner's test says of each version and each probe; in a simulation there are no logs.
void ask(Harness& h, Bench& bench) {
  std::vector<std::vector<LogLine> > logs(1);
  if (h.computes()) {
    const bool two_faults = bench.program() >= 5;
    logs = {bench.log(shipped), bench.log(right), bench.log(variant), bench.log(two_faults ? faulty : shipped)};
    for (std::vector<LogLine>& probe : probes(logs[right], bench.data())) logs.push_back(std::move(probe));
  } else {
    logs[0].push_back({.samples = {0}});
  }
  std::vector<float> answers;
  for (const std::vector<LogLine>& log : logs) answers.push_back(suspicious(log, bench.data()) ? 1 : 0);
  h.put_of_rank("answers", h.tensor(answers, Kind::other));
}

void product(Harness& h, Bench& bench) {
  Group& tp = h.rank().world();
  const Range mine = tp.mine(h.integer("width"));
  const Tensor x = bench.columns(bench.inputs(), mine), part = bench.weights(mine), bias = bench.bias();
  h.begin();
  const Tensor y = row_parallel(x, {part, bias, {}, {}}, tp);
  h.end();
  h.put("output", y);
}

void training(Harness& h, Bench& bench) {
  Tensor weights = bench.weights();
  const Setup setup = bench.setup(weights, static_cast<int>(h.integer("micro")));
  Tensor first_grads = h.rank().zeros(bench.grads().shape(), Kind::other);
  Tensor read = h.rank().zeros(setup.samples * setup.micro_batches * setup.steps, Kind::other);
  h.begin();
  run_program(h.rank(), setup, first_grads, read);
  h.end();
  h.put("grads of step 1", first_grads, bench.place());
  h.put("weights in the end", weights, bench.place());
  h.put_of_rank("read", read);
}

}  // namespace

#endif

SHARDLINGS_HARNESS(h) {
#ifndef SHARDLINGS_BESIDE_LEARNER
  Bench bench(h);
  if (bench.program() == 3) {
    product(h, bench);
  } else {
    training(h, bench);
  }
  ask(h, bench);  // behind the measured run, of which a simulation has the same calls
#endif
}
