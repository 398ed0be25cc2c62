#include "cli/ascii.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace shardlings::cli {
namespace {

struct Written {
  char32_t code;
  const char* ascii;
};

constexpr Written kWritten[] = {
    {U'−', "-"},     {U'–', "-"},     {U'×', "x"},     {U'…', "..."}, {U'≤', "<="},    {U'≥', ">="}, {U'→', "->"},
    {U'α', "alpha"}, {U'β', "beta"},  {U'ε', "eps"},   {U'µ', "u"},   {U'Ψ', "Psi"},   {U'ᵀ', "^T"}, {U'▶', ">"},
    {U'╱', "/"},     {U'╲', "\\"},    {U'“', "\""},    {U'”', "\""},  {U'’', "'"},     {U'é', "e"},  {U'▁', "."},
    {U'▂', "."},     {U'▃', ":"},     {U'▄', ":"},     {U'▅', ":"},   {U'▆', "|"},     {U'▇', "|"},  {U'█', "#"},
    {U'τ', "tau"},   {U'δ', "delta"}, {U'σ', "sigma"}, {U'μ', "mu"},  {U'θ', "theta"}, {U'π', "pi"}, {U'⌈', "ceil("},
    {U'⌉', ")"},     {U'√', "sqrt "}, {U'ᵢ', "_i"},    {U'ä', "ae"},  {U'ö', "oe"},    {U'ü', "ue"}, {U'á', "a"},
    {U'▒', "="},     {U'■', "#"},     {U'◣', "\\"},    {U'▼', "v"},   {U'▲', "^"},     {U'○', "o"},  {U'✓', "+"},
    {U'✗', "x"}};

constexpr std::u32string_view kRaised = U"⁰¹²³⁴⁵⁶⁷⁸⁹⁻";  // the digits in their order, and a minus
constexpr std::string_view kLowered = "0123456789-";

/// The lines of drawings (U+2500 to U+257F) by what they do: run across, run down, or meet.
const char* line_of_drawing(char32_t code) {
  constexpr std::u32string_view kAcross = U"─━═┄┈╌", kDown = U"│┃║┆┊╎";
  if (kAcross.find(code) != kAcross.npos) return "-";
  if (kDown.find(code) != kDown.npos) return "|";
  return "+";
}

/// "10⁻⁵" as "10^-5": one ^ before all that is raised.
std::string raised(char32_t code, bool follows_another) {
  const char lowered = kLowered[kRaised.find(code)];
  return follows_another ? std::string(1, lowered) : std::string("^") + lowered;
}

std::string written(char32_t code) {
  const auto* const found =
      std::find_if(std::begin(kWritten), std::end(kWritten), [code](const Written& w) { return w.code == code; });
  if (found != std::end(kWritten)) return found->ascii;
  return code >= 0x2500 && code <= 0x257F ? line_of_drawing(code) : "?";
}

}  // namespace

std::string in_ascii(std::string_view text) {
  std::string result;
  bool was_raised = false;
  while (!text.empty()) {
    const Character character = first_character(text);
    const bool is_raised = kRaised.find(character.code) != kRaised.npos;
    text.remove_prefix(character.size);
    if (character.valid && character.code < 0x80) {
      result += static_cast<char>(character.code);
    } else if (!character.valid) {
      result += '?';
    } else if (is_raised) {
      result += raised(character.code, was_raised);
    } else if (character.code == U'·') {
      // Between spaces it multiplies; elsewhere it is an empty place in a drawing.
      result += result.ends_with(' ') && text.starts_with(' ') ? '*' : '.';
    } else {
      result += written(character.code);
    }
    was_raised = is_raised;
  }
  return result;
}

}  // namespace shardlings::cli
