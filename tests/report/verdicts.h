/// \file
/// Verdicts made by hand, for tests of the reports.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::testing {

/// One millisecond of virtual time.
inline constexpr Nanos kMs{1'000'000};

/// An event of the program (lane compute) or, for communication kinds, of the links.
front::Event event(front::EventKind kind, Nanos begin, Nanos end, int micro = -1, int layer = -1);

/// A pipeline of `ranks` stages and `micros` micro-batches, all forwards before all backwards (GPipe; Huang et al.
/// 2019), forward 1 ms and backward 2 ms, with sends between the stages if `messages`.
grading::verdict::CaseVerdict pipeline_case(int ranks, int micros, bool messages);

/// One rank, `layers` layers forward, loss, backward and update.
grading::verdict::CaseVerdict layers_case(int layers);

/// Data parallel training: every layer's gradients are reduced while the layers below compute.
grading::verdict::CaseVerdict overlap_case(int ranks, int layers);

/// Messages around a ring, each rank sending and receiving at once, and nothing computed.
grading::verdict::CaseVerdict ring_case(int ranks);

/// The case with a budget of peak memory, `below` under the highest peak.
grading::verdict::CaseVerdict with_budget(grading::verdict::CaseVerdict kase, Bytes below = Bytes(0));

/// A verdict on that case with five checks: output and memory hold, communication fails, time waits, rules holds.
grading::verdict::Verdict verdict_with_failure(grading::verdict::CaseVerdict kase);
/// All five hold.
grading::verdict::Verdict passed_verdict(grading::verdict::CaseVerdict kase);
/// Passed, with a bonus of 25 points that is still open, or won.
grading::verdict::Verdict verdict_with_bonus(bool is_won);
grading::verdict::Verdict unbuilt_verdict();
/// A check has failed on its first case, and the machine did not let the second one be run.
grading::verdict::Verdict not_judged_verdict();
grading::verdict::Verdict unimplemented_verdict();
/// A run that ended in a deadlock: the explanation has several lines.
grading::verdict::Verdict deadlock_verdict();
/// Everything that a show can say: of equal and of different ranks, of large, small, empty and broken tensors.
grading::verdict::CaseVerdict with_shows(grading::verdict::CaseVerdict kase);
/// Control sequences, broken UTF-8, very long words and wide characters wherever a submission can put text.
grading::verdict::Verdict hostile_verdict();

}  // namespace shardlings::testing
