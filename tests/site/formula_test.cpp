// What of a text is a formula, and the MathML that it becomes.
#include "site/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "site/formula_runs.h"

namespace shardlings::site {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The formulas of a text, as they stand in it.
std::vector<std::string> formulas_in(const std::string& text) {
  const std::vector<Token> tokens = tokens_of(text);
  std::vector<std::string> found;
  for (const FormulaRun& run : runs_of(tokens)) {
    const std::size_t begin = tokens[run.begin].begin;
    found.push_back(text.substr(begin, tokens[run.end - 1].end - begin));
  }
  return found;
}

TEST(Formula, IsFoundInProse) {
  EXPECT_THAT(formulas_in("If every rank divides by T, the step takes 2 (N−1) (α + n/(N BW)) at most."),
              ElementsAre("T", "2 (N−1) (α + n/(N BW))"));
  EXPECT_THAT(formulas_in("With t_F = 1 ms, t_AR,l-1 and w_{L-1}: O(N log2 N), sqrt(L/2)."),
              ElementsAre("t_F = 1 ms", "t_AR,l-1", "w_{L-1}", "O(N log2 N)", "sqrt(L/2)"));
  EXPECT_THAT(formulas_in("layers l+1 to L-1 have 2 s b h bytes, about 4nh; (s, b, h) is a shape, k²/2 calls"),
              ElementsAre("l+1", "L-1", "2 s b h", "4nh", "(s, b, h)", "k²/2"));
  EXPECT_THAT(formulas_in("5 a s/h, b ≤ 4 and 2 x 3 L"), ElementsAre("5 a s/h", "b ≤ 4", "2 x 3 L"));
  EXPECT_THAT(formulas_in("T = t_0 + ... + t_{N-1} and X_0..X_3"),
              ElementsAre("T = t_0 + ... + t_{N-1}", "X_0", "X_3"));
}

TEST(Formula, IsNotSeenInWords) {
  EXPECT_THAT(formulas_in("A rank takes 2.5 s for a step of 1F1B; I train 405B in 3D, all-reduce and all_reduce, C++."),
              IsEmpty());
  EXPECT_THAT(formulas_in("3808 + 3808 + 1092 = 8708 bytes, 2 · 3/4 · 3808, 2 x 2 x 3/4 x 768, arXiv 2006.15704"),
              IsEmpty());
  EXPECT_THAT(formulas_in("x[0] of state.grads[l], the N-th, Megatron-LM's, ranks 0-3, puzzle.cpp:31"), IsEmpty());
  EXPECT_THAT(formulas_in("puzzle 09 (N = 4)"), ElementsAre("(N = 4)")) << "a remark is no factor";
}

TEST(Formula, BecomesMathMl) {
  EXPECT_EQ(
      prose_with_formulas("so S/BW & more"),
      "so <math alttext=\"S/BW\"><mfrac><mrow><mi>S</mi></mrow><mrow><mi class=\"name\">BW</mi></mrow></mfrac></math> "
      "&amp; more");
  EXPECT_THAT(prose_with_formulas("(N-1)/N S"), HasSubstr("<mfrac><mrow><mrow><mi>N</mi><mo>−</mo><mn>1</mn></mrow>"));
  EXPECT_THAT(prose_with_formulas("4 Ψ / t"), AllOf(HasSubstr("<mo>/</mo>"), Not(HasSubstr("mfrac"))));
  EXPECT_THAT(prose_with_formulas("10⁹ h²"), AllOf(HasSubstr("<msup><mrow><mn>10</mn></mrow><mn>9</mn></msup>"),
                                                   HasSubstr("<msup><mrow><mi>h</mi></mrow><mn>2</mn></msup>")));
  EXPECT_THAT(prose_with_formulas("t_AR,l <= t_B"),
              AllOf(HasSubstr("<mtext>AR</mtext><mo separator=\"true\">,</mo><mi>l</mi>"), HasSubstr("≤")));
  EXPECT_THAT(prose_with_formulas("sqrt(L/2)"), HasSubstr("<msqrt><mrow><mfrac>"));
}

TEST(FormulaBlock, IsAlignedAtWhatCompares) {
  const std::string math =
      formula_block("end = max over l of ( L t_F + D_l )   a remark\n    = L t_F   b\n    + g_0\n");
  EXPECT_THAT(math, HasSubstr("<math displaystyle=\"true\" alttext="));
  EXPECT_THAT(math, HasSubstr("<munder><mo movablelimits=\"false\">max</mo><mrow><mi>l</mi></mrow></munder>"));
  EXPECT_THAT(math, HasSubstr("text-align:left\"><mspace width=\"1.5em\"/><mtext>a\u00a0remark</mtext>"));
  EXPECT_THAT(math, HasSubstr("<mtr><mtd style=\"text-align:right\"></mtd><mtd style=\"text-align:left\"><mo>=</mo>"));
  EXPECT_THAT(math, HasSubstr("<mspace width=\"1.6em\"/><mo>+</mo>")) << "a summand goes on behind the sign";
}

TEST(FormulaBlock, TakesWhatIsAlignedBeforeASignForOnePart) {
  const std::string math = formula_block("forward  = L       backward = L\ntime     = 2 L\n");
  EXPECT_THAT(math, HasSubstr("<mtext>time</mtext></mtd><mtd style=\"text-align:left\"><mo>=</mo>"));
  EXPECT_THAT(formula_block("sent = w + a few bytes\n"), HasSubstr("<mtext>a\u00a0few\u00a0bytes</mtext>"));
}

TEST(FormulaBlock, NamesOfWordsStayUpright) {
  EXPECT_THAT(formula_block("peak = weights + 2 w\n"), AllOf(HasSubstr("weights"), HasSubstr("<mi>w</mi>")));
  EXPECT_THAT(formula_block("sent = m · grad_y\n"), HasSubstr("<mtext>grad_y</mtext>"));
  EXPECT_THAT(formula_block("z = x upᵀ\n"), HasSubstr("<mi>T</mi></msup>"));
}

TEST(FormulaBlock, IsRefusedWithoutAnythingToCalculate) {
  EXPECT_THROW(formula_block("rank 0   rank 1\n"), std::runtime_error);
}

TEST(FormulaBlock, IsToldFromOtherCode) {
  EXPECT_TRUE(looks_like_formula("words\nS = N α BW\n"));
  EXPECT_FALSE(looks_like_formula("./shardlings run 09\n"));
  EXPECT_FALSE(looks_like_formula("a block   34 · 8192 = 4.56 GB\nrank 0   F0 F1\n"));
}

}  // namespace
}  // namespace shardlings::site
