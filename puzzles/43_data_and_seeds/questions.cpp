// What is asked after the pass about masks and packed documents.

#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

SHARDLINGS_PREDICTIONS_AFTER("8 ranks, then 8 in another grid") {
  const Formula<Count> s = named("s", Count(8192)), h = named("h", Count(16384)), b = named("b", Count(1));
  const Formula<Count> layers = named("L", Count(126)), masks = named("masks of a block", Count(2));
  predict.answer(1)
      .number(
          "masks",
          "126 blocks with h = 16384, each with two dropouts of (s, b, h), and a micro-batch of one sequence of 8192 "
          "positions: how many bytes do the masks have, at one byte for each element?",
          named("masks", Bytes((masks * layers * s * b * h).expression().value())))
      .unlike(named("masks of one block", Bytes((masks * s * b * h).expression().value())),
              "That is one block's. Each one is needed until its backward.");
  const Formula<Count> sequences = named("sequences", Count(1024)), length = named("s", Count(8192));
  const Formula<Count> document = named("tokens of a document", Count(1024));
  predict.answer(5)
      .count("without",
             "A step has 1024 sequences of 8192 tokens, and documents have 1024 tokens on average. Packed as here, how "
             "many tokens of the step have no target?",
             sequences * length / document, "tokens")
      .unlike(sequences, "That is one for each sequence. Its last token has a target, if its document goes on.")
      .unlike(sequences * length / document + sequences,
              "The last token of a sequence has a target as well, if its document goes on in the next one.");
}
