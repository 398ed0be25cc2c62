#include "report/verdicts.h"

#include <algorithm>
#include <limits>

namespace shardlings::testing {
namespace {

using front::Event;
using front::EventKind;
using grading::verdict::CaseVerdict;
using grading::verdict::CheckSummary;
using grading::verdict::CheckVerdict;
using grading::verdict::Verdict;

constexpr Nanos kForward = kMs;
constexpr Nanos kBackward = 2 * kMs;
constexpr Bytes kActivation{4096};

bool is_communication(EventKind kind) {
  return kind == EventKind::collective || kind == EventKind::send || kind == EventKind::recv;
}

front::Counters counters_of(const front::RankTrace& trace) {
  front::Counters counters;
  for (const Event& event : trace.events) {
    counters.end = std::max(counters.end, event.end);
    if (!is_communication(event.kind) && event.kind != EventKind::wait) counters.busy[0] += event.end - event.begin;
    if (is_communication(event.kind)) {
      counters.overlapped_transfer += event.end - event.begin;
      counters.busy[static_cast<std::size_t>(event.lane)] += event.end - event.begin;
    }
    if (event.bytes > Bytes(0)) counters.traffic[{back::Collective::all_reduce, "world", {}}].sent += event.bytes;
  }
  for (const front::MemoryPoint& point : trace.memory) {
    Bytes live;
    for (const Bytes bytes : point.live) live += bytes;
    counters.peak = std::max(counters.peak, live);
  }
  counters.peak_file = "/home/learner/shardlings/puzzles/20_pipeline/puzzle.cpp";
  counters.peak_line = 31;
  return counters;
}

// A saved activation more for every forward, one less for every backward.
void add_memory(front::RankTrace& trace) {
  Bytes live = kActivation;
  trace.memory.push_back({Nanos(0), {live}});
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::forward) trace.memory.push_back({event.begin, {live += kActivation}});
    if (event.kind == EventKind::backward) trace.memory.push_back({event.end, {live -= kActivation}});
  }
}

CaseVerdict case_of(std::vector<front::RankTrace> traces, std::string name) {
  CaseVerdict kase;
  kase.kase.puzzle = "20_pipeline";
  kase.kase.name = std::move(name);
  kase.kase.ranks = static_cast<int>(traces.size());
  kase.ending = wire::Ending::finished;
  kase.reproduce = "./shardlings run 20_pipeline --case \"" + kase.kase.name + "\" --seed 7";
  for (auto& trace : traces) {
    if (trace.memory.empty()) add_memory(trace);
    kase.counters.push_back(counters_of(trace));
  }
  kase.traces = std::move(traces);
  return kase;
}

cases::CheckSpec spec(const char* id, cases::CheckKind kind, const char* title, int points) {
  return {id, kind, title, points, {}};
}

Verdict graded(CaseVerdict kase) {
  Verdict verdict;
  verdict.puzzle = "20_pipeline";
  verdict.status = grading::verdict::Status::graded;
  verdict.version = "0.1.0";
  verdict.max_points = 100;
  verdict.checks = {
      {spec("output", cases::CheckKind::output, "Weights and loss are those of one device", 40), {}, 0, ""},
      {spec("memory", cases::CheckKind::memory, "Peak memory within the bound", 20), {}, 0, ""},
      {spec("bytes", cases::CheckKind::communication, "Every boundary is crossed once per micro-batch", 20), {}, 0, ""},
      {spec("bubble", cases::CheckKind::time, "The step takes (m + p - 1)(F + B)", 15), {}, 0, ""},
      {spec("rules", cases::CheckKind::rules, "Only point-to-point messages are used", 5), {}, 0, ""}};
  for (CheckSummary& check : verdict.checks) {
    check.passed = true;
    check.earned = check.spec.points;
    CheckVerdict on_case;
    on_case.id = check.spec.id;
    on_case.case_name = kase.kase.name;
    on_case.passed = true;
    kase.checks.push_back(on_case);
  }
  verdict.cases.push_back(std::move(kase));
  verdict.passed = true;
  verdict.points = 100;
  return verdict;
}

// Fails check `failing` of the last case; the checks `waiting` were not judged because of it.
void fail(Verdict& verdict, std::size_t failing, const std::vector<std::size_t>& waiting) {
  auto& checks = verdict.cases.back().checks;
  checks[failing].passed = false;
  verdict.checks[failing].passed = false;
  for (const std::size_t i : waiting) {
    checks[i].passed.reset();
    verdict.checks[i].passed.reset();
    checks[i].blocked_by = verdict.checks[i].blocked_by = checks[failing].id;
  }
  verdict.points = 0;
  for (CheckSummary& check : verdict.checks) {
    check.earned = check.passed.value_or(false) ? check.spec.points : 0;
    verdict.points += check.earned;
  }
  verdict.passed = false;
}

}  // namespace

front::Event event(EventKind kind, Nanos begin, Nanos end, int micro, int layer) {
  Event event;
  event.kind = kind;
  event.lane = is_communication(kind) ? front::Lane::intra_node : front::Lane::compute;
  event.label = {micro, layer};
  event.begin = begin;
  event.end = end;
  event.posted = begin;
  return event;
}

CaseVerdict pipeline_case(int ranks, int micros, bool messages) {
  std::vector<front::RankTrace> traces(static_cast<std::size_t>(ranks));
  const Nanos turn = (micros + ranks - 1) * kForward;
  for (int r = 0; r < ranks; ++r) {
    auto& trace = traces[static_cast<std::size_t>(r)];
    for (int i = 0; i < micros; ++i) {
      const Nanos begin = (r + i) * kForward;
      trace.events.push_back(event(EventKind::forward, begin, begin + kForward, i, r));
      if (!messages || r + 1 == ranks) continue;
      trace.events.push_back(event(EventKind::send, begin + kForward, begin + kForward + kMs, i));
      trace.events.back().bytes = kActivation;
    }
    for (int i = 0; i < micros; ++i) {
      const Nanos begin = turn + (ranks - 1 - r + i) * kBackward;
      trace.events.push_back(event(EventKind::backward, begin, begin + kBackward, i, r));
    }
  }
  return case_of(std::move(traces), std::to_string(ranks) + " stages");
}

CaseVerdict layers_case(int layers) {
  front::RankTrace trace;
  Nanos now;
  const auto add = [&](EventKind kind, Nanos length, int layer) {
    trace.events.push_back(event(kind, now, now + length, -1, layer));
    now += length;
  };
  for (int l = 0; l < layers; ++l) add(EventKind::forward, kForward, l);
  add(EventKind::loss, kMs, -1);
  for (int l = layers - 1; l >= 0; --l) add(EventKind::backward, kBackward, l);
  for (int l = 0; l < layers; ++l) add(EventKind::update, kMs, l);
  return case_of({trace}, "one rank");
}

CaseVerdict overlap_case(int ranks, int layers) {
  front::RankTrace trace;
  Nanos now;
  for (int l = 0; l < layers; ++l, now += kForward) {
    trace.events.push_back(event(EventKind::forward, now, now + kForward, -1, l));
  }
  for (int l = layers - 1; l >= 0; --l, now += kBackward) {
    trace.events.push_back(event(EventKind::backward, now, now + kBackward, -1, l));
    trace.events.push_back(event(EventKind::collective, now + kBackward, now + kBackward + kMs, -1, l));
    trace.events.back().bytes = Bytes(96);
  }
  trace.events.push_back(event(EventKind::wait, now, now + kMs));
  return case_of(std::vector<front::RankTrace>(static_cast<std::size_t>(ranks), trace), "overlapped");
}

CaseVerdict ring_case(int ranks) {
  front::RankTrace trace;
  for (int step = 0; step < 2 * (ranks - 1); ++step) {
    trace.events.push_back(event(EventKind::send, step * kMs, (step + 1) * kMs));
    trace.events.push_back(event(EventKind::recv, step * kMs, (step + 1) * kMs));
    trace.events.push_back(event(EventKind::wait, step * kMs, (step + 1) * kMs));
  }
  trace.memory.push_back({Nanos(0), {kActivation}});
  return case_of(std::vector<front::RankTrace>(static_cast<std::size_t>(ranks), trace), "ring");
}

CaseVerdict with_budget(CaseVerdict kase, Bytes below) {
  Bytes peak;
  for (const front::Counters& rank : kase.counters) peak = std::max(peak, rank.peak);
  CheckVerdict check;
  check.id = "memory";
  check.bounds.push_back({grading::verdict::Bound::Of::peak, -1, "peak memory",
                          grading::verdict::Bound::Relation::at_most, (peak - below).value(), peak.value(),
                          grading::verdict::Unit::bytes, "", "", below == Bytes(0)});
  kase.checks.push_back(check);
  return kase;
}

Verdict verdict_with_failure(CaseVerdict kase) {
  Verdict verdict = graded(std::move(kase));
  CheckVerdict& check = verdict.cases[0].checks[2];
  check.expected = "bytes sent by rank 1: exactly m S (p - 2 > 0) = 4 x 4096 = 16384 bytes";
  check.found = "24576 bytes, 8192 too many";
  check.details = {"The first extra message is number 5 from rank 1 to rank 2."};
  check.where = {"/home/learner/shardlings/puzzles/20_pipeline/puzzle.cpp", 42};
  check.diagnosis = "sent_twice";
  check.diagnosis_text =
      "The activation of a micro-batch is sent again in its backward pass. Only its gradient has to travel there, in "
      "the other direction.";
  verdict.diagnoses = {"sent_twice"};
  fail(verdict, 2, {3});
  return verdict;
}

Verdict passed_verdict(CaseVerdict kase) {
  return graded(std::move(kase));
}

Verdict verdict_with_bonus(bool is_won) {
  Verdict verdict = graded(layers_case(2));
  CheckSummary bonus = verdict.checks[0];
  bonus.spec.id = "cheapest";
  bonus.spec.title = "As cheap as any plan";
  bonus.spec.points = 25;
  bonus.spec.bonus = true;
  bonus.passed = is_won;
  bonus.earned = is_won ? 25 : 0;
  verdict.checks.push_back(bonus);
  verdict.points += bonus.earned;
  CheckVerdict& check = verdict.cases[0].checks.emplace_back();
  check.id = bonus.spec.id;
  check.passed = is_won;
  if (!is_won) check.expected = "1024 operations", check.found = "2048 operations";
  return verdict;
}

Verdict unbuilt_verdict() {
  Verdict verdict = graded({});
  verdict.cases.clear();
  verdict.status = grading::verdict::Status::did_not_build;
  verdict.build_log =
      "puzzle.cpp:12:3: error: 'forwrad' was not declared in this scope; did you mean 'forward'?\n"
      "   12 |   forwrad(l);\n"
      "      |   ^~~~~~~\n"
      "      |   forward";
  for (CheckSummary& check : verdict.checks) check.passed = false, check.earned = 0;
  verdict.passed = false;
  verdict.points = 0;
  return verdict;
}

Verdict not_judged_verdict() {
  Verdict verdict = verdict_with_failure(pipeline_case(2, 2, false));
  CaseVerdict kase;
  kase.kase.name = "3 ranks";
  kase.ending = wire::Ending::not_started;
  kase.explanation = "the program could not be started: no threads & no processes.";
  verdict.reason = kase.explanation;
  for (CheckSummary& summary : verdict.checks) {
    CheckVerdict& check = kase.checks.emplace_back();
    check.id = summary.spec.id;
    check.reason = kase.explanation;
    summary.earned = 0;
    if (summary.passed == false) continue;
    summary.passed = std::nullopt;
    summary.reason = kase.explanation;
  }
  verdict.cases.push_back(kase);
  verdict.status = grading::verdict::Status::not_judged;
  verdict.points = 0;
  return verdict;
}

Verdict unimplemented_verdict() {
  Verdict verdict = graded(layers_case(2));
  verdict.status = grading::verdict::Status::not_implemented;
  verdict.cases[0].ending = wire::Ending::failed;
  verdict.cases[0].failure = front::FailureKind::not_implemented;
  verdict.cases[0].checks[0].where = {"/home/learner/shardlings/puzzles/20_pipeline/puzzle.cpp", 17};
  fail(verdict, 0, {1, 2, 3, 4});
  return verdict;
}

Verdict deadlock_verdict() {
  CaseVerdict kase = pipeline_case(2, 2, false);
  kase.ending = wire::Ending::failed;
  kase.failure = front::FailureKind::deadlock;
  kase.explanation =
      "deadlock: every rank waits for another one.\n"
      "  rank 0 waits at puzzle.cpp:31 in send of 128 f32 to rank 1 (group world, call 4) for rank 1\n"
      "  rank 1 waits at puzzle.cpp:31 in send of 128 f32 to rank 0 (group world, call 4) for rank 0\n"
      "A send is complete only when the other side has posted its receive.";
  Verdict verdict = graded(std::move(kase));
  CheckVerdict& check = verdict.cases[0].checks[0];
  check.expected = "a run that comes to its end";
  const std::string& why = verdict.cases[0].explanation;
  check.found = why.substr(0, why.find('\n'));
  check.details = {why.substr(why.find('\n') + 1)};
  check.where = {"puzzle.cpp", 31};
  fail(verdict, 0, {1, 2, 3, 4});
  return verdict;
}

namespace {

front::Shown shown(const std::string& label, const Shape& shape, const std::vector<float>& elements) {
  front::Shown shown;
  shown.label = label;
  shown.file = "puzzle.cpp";
  shown.line = 43;
  shown.shape = shape;
  shown.kind = Kind::activation;
  front::look_at(elements, shown);
  return shown;
}

std::vector<float> waves(Count n) {
  std::vector<float> elements;
  for (Count i = 0; i < n; ++i) elements.push_back(static_cast<float>((i * 37) % 101 - 50) / 8.0F);
  return elements;
}

}  // namespace

CaseVerdict with_shows(CaseVerdict kase) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  front::Shown large = shown("x after layer 1", {4, 2, 16}, waves(128));
  large.layer = 1;
  large.micro = 0;
  front::Shown ids = shown("", {2, 3}, {5, 0, 12, -1'000'000'000, 7, 3});
  ids.dtype = DType::i32;
  front::Shown broken = shown("the gradient", 4, {nan, -infinity, 1e-12F, nan});
  broken.kind = Kind::gradient;
  front::Shown nothing = shown("all of it broken", {1, 2}, {nan, nan});
  nothing.dtype = DType::bf16;
  nothing.memory = front::Memory::host;
  front::Shown gone = shown("grad", {}, {});
  gone.there = false;
  kase.shown = {{{0, 1, 2, 3}, large},
                {{0, 2}, ids},
                {{1}, broken},
                {{3}, nothing},
                {{0}, shown("loss", 1, {0.6931472F})},
                {{1, 2, 3}, shown("loss", 1, {1e-7F})},
                {{0, 1, 2, 3}, gone},
                {{0, 1, 2, 3}, shown("nobody's part", {0, 8}, {})},
                {{0}, shown("the ninth", {2, 2}, {1, 2, 3, 4})},
                {{1}, shown("the tenth", {2, 2}, {5, 6, 7, 8})}};
  kase.shows_left_out = 12;
  return kase;
}

Verdict hostile_verdict() {
  Verdict verdict = verdict_with_failure(pipeline_case(3, 12, true));
  CaseVerdict& kase = verdict.cases[0];
  kase.shown = {{{0}, shown("\x1b[31m" + std::string(70, 'z') + "\n\xe2\x80\xae", {1'000'000, 3'000'000}, {})}};
  kase.shown[0].what.rows = {{999'999, {-1.234e-5F, 1e30F, 1, 2, 3, 4}}};
  kase.kase.name = "\x1b[31mred\x1b[0m \xe2\x80\xae reversed";
  kase.stdout_text =
      "\x1b]0;title\x07\rover\twritten\n\xff\xfe broken \xc0\xaf \xed\xa0\x80\n" + std::string(300, 'x') +
      "\n\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97 e\xcc\x81 \xf0\x9f\x8e\x89\n";
  kase.checks[2].found = std::string(150, 'y') +
                         " \x9b"
                         "31m";
  kase.checks[2].where.file = "/tmp/\x1b[2J/\nevil.cpp";
  kase.counters[0].peak_file = "\x1b[Hpeak.cpp";
  verdict.checks[2].spec.title =
      "A title that goes on and on, far beyond what any screen of ordinary size will show, "
      "with averyveryverylongwordthatisnotbrokenbyanyspaceatallandgoesonandonandonandonandon";
  return verdict;
}

}  // namespace shardlings::testing
