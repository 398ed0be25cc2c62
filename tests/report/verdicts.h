/// \file
/// Verdicts made by hand, for tests of the reports.
#pragma once

#include <string>

#include "grading/verdict.h"

namespace shardlings::testing {

/// One millisecond of virtual time.
inline constexpr Nanos kMs{1'000'000};

/// An event of the program (lane compute) or, for communication kinds, of the links.
front::Event event(front::EventKind kind, Nanos begin, Nanos end, int micro = -1, int layer = -1);

/// A pipeline of `ranks` stages and `micros` micro-batches, all forwards before all backwards (GPipe; Huang et al.
/// 2019), forward 1 ms and backward 2 ms, with sends between the stages if `messages`.
grading::CaseVerdict pipeline_case(int ranks, int micros, bool messages);

/// One rank, `layers` layers forward, loss, backward and update.
grading::CaseVerdict layers_case(int layers);

/// Data parallel training: every layer's gradients are reduced while the layers below compute.
grading::CaseVerdict overlap_case(int ranks, int layers);

/// Messages around a ring, each rank sending and receiving at once, and nothing computed.
grading::CaseVerdict ring_case(int ranks);

/// The case with a budget of peak memory, `below` under the highest peak.
grading::CaseVerdict with_budget(grading::CaseVerdict kase, Bytes below = Bytes(0));

/// A verdict on that case with five checks: output and memory hold, communication fails, time waits, rules holds.
grading::Verdict verdict_with_failure(grading::CaseVerdict kase);
/// All five hold.
grading::Verdict passed_verdict(grading::CaseVerdict kase);
grading::Verdict unbuilt_verdict();
grading::Verdict unimplemented_verdict();
/// A run that ended in a deadlock: the explanation has several lines.
grading::Verdict deadlock_verdict();
/// Control sequences, broken UTF-8, very long words and wide characters wherever a submission can put text.
grading::Verdict hostile_verdict();

}  // namespace shardlings::testing
