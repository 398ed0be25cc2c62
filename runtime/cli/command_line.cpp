#include "cli/command_line.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>

namespace shardlings::cli {
namespace {

/// An empty text is a variable that somebody has not set: it asks for nothing that could be meant.
CLI::Validator something() {
  return {[](const std::string& text) { return text.empty() ? std::string("needs a value that is not empty") : ""; },
          ""};
}

/// The library takes -1 for the largest number that there is.
CLI::Validator whole_number() {
  const auto check = [](const std::string& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_one = error == std::errc() && end == text.data() + text.size();
    return is_one ? std::string() : fmt::format("needs a whole number from 0 to 2^64 - 1, not {}", text);
  };
  return {check, ""};
}

/// The library takes what is no number, as "nan", for one above 0.
CLI::Validator positive_number() {
  const auto check = [](const std::string& text) {
    float number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_one = error == std::errc() && end == text.data() + text.size() && number > 0 && std::isfinite(number);
    return is_one ? std::string() : fmt::format("needs a number above 0, not {}", text);
  };
  return {check, "POSITIVE"};
}

template <class Number>
void add_number(CLI::App& verb, const char* name, Number& value, const char* meaning, Interval interval,
                Default shown) {
  CLI::Option* option = verb.add_option(name, value, meaning);
  option->check(CLI::Range(static_cast<Number>(interval.least), static_cast<Number>(interval.most)));
  if (shown == Default::shown) option->capture_default_str();
}

grammar::Option described(const CLI::Option& option) {
  grammar::Option words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  if (words.names.empty()) words.names.push_back(option.get_name());
  words.form = option.get_items_expected_max() == 0 ? "" : option.get_type_name();
  words.meaning = option.get_description();
  words.required = option.get_required();
  return words;
}

}  // namespace

grammar::Grammar grammar_of(const CLI::App& app) {
  grammar::Grammar grammar{app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) grammar.options.push_back(described(*option));
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    grammar::Verb& words = grammar.verbs.emplace_back();
    words.name = verb->get_name();
    words.meaning = verb->get_description();
    for (const CLI::Option* option : verb->get_options()) {
      if (app.get_option_no_throw(option->get_name()) != nullptr) continue;  // one of every verb
      (option->get_positional() ? words.arguments : words.options).push_back(described(*option));
    }
  }
  return grammar;
}

void VerbOptions::positional(const char* name, std::string& value, const char* meaning) {
  verb_->add_option(name, value, meaning);
}

void VerbOptions::positional(const char* name, std::vector<std::string>& values, const char* meaning) {
  verb_->add_option(name, values, meaning);
}

void VerbOptions::required(const char* name, std::string& value, const char* meaning) {
  verb_->add_option(name, value, meaning)->required();
}

void VerbOptions::flag(const char* name, bool& value, const char* meaning) {
  verb_->add_flag(name, value, meaning)->disable_flag_override();
}

void VerbOptions::text(const char* name, std::string& value, const char* meaning, Default shown) {
  CLI::Option* option = verb_->add_option(name, value, meaning)->check(something());
  if (shown == Default::shown) option->capture_default_str();
}

void VerbOptions::texts(const char* name, std::vector<std::string>& values, const char* meaning) {
  verb_->add_option(name, values, meaning);
}

void VerbOptions::several(const char* name, std::vector<std::string>& values, const char* form, const char* meaning) {
  verb_->add_option(name, values, meaning)->type_name(form);
}

void VerbOptions::each(const char* name, std::vector<std::string>& values, const char* form, const char* meaning) {
  verb_->add_option(name, values, meaning)->type_name(form)->allow_extra_args(false);
}

void VerbOptions::number(const char* name, int& value, const char* meaning, Interval interval, Default shown) {
  add_number(*verb_, name, value, meaning, interval, shown);
}

void VerbOptions::number(const char* name, Count& value, const char* meaning, Interval interval, Default shown) {
  add_number(*verb_, name, value, meaning, interval, shown);
}

void VerbOptions::number(const char* name, std::uint64_t& value, const char* meaning) {
  verb_->add_option(name, value, meaning)->check(whole_number())->capture_default_str();
}

void VerbOptions::number(const char* name, std::optional<std::uint64_t>& value, const char* meaning) {
  verb_->add_option(name, value, meaning)->check(whole_number());
}

void VerbOptions::positive(const char* name, float& value, const char* meaning) {
  verb_->add_option(name, value, meaning)->check(positive_number())->capture_default_str();
}

void VerbOptions::excludes(const char* name, const char* other) {
  verb_->get_option(name)->excludes(verb_->get_option(other));
}

CLI::App* CommandLine::add(const char* name, const char* meaning, ChosenVerb chosen) {
  CLI::App* verb = app_.add_subcommand(name, meaning);
  verb->fallthrough();
  verb->callback([&asked = chosen_, chosen = std::move(chosen)] { asked = chosen; });
  return verb;
}

}  // namespace shardlings::cli
