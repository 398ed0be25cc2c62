#include "cli/command_line.h"

#include <CLI/CLI.hpp>

namespace shardlings::cli {
namespace {

template <class Number>
void add_number(CLI::App& verb, const char* name, Number& value, const char* meaning, Interval interval,
                Default shown) {
  CLI::Option* option = verb.add_option(name, value, meaning);
  option->check(CLI::Range(static_cast<Number>(interval.least), static_cast<Number>(interval.most)));
  if (shown == Default::shown) option->capture_default_str();
}

}  // namespace

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
  verb_->add_flag(name, value, meaning);
}

void VerbOptions::text(const char* name, std::string& value, const char* meaning, Default shown) {
  CLI::Option* option = verb_->add_option(name, value, meaning);
  if (shown == Default::shown) option->capture_default_str();
}

void VerbOptions::texts(const char* name, std::vector<std::string>& values, const char* meaning) {
  verb_->add_option(name, values, meaning);
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
  verb_->add_option(name, value, meaning)->capture_default_str();
}

void VerbOptions::number(const char* name, std::optional<std::uint64_t>& value, const char* meaning) {
  verb_->add_option(name, value, meaning);
}

void VerbOptions::positive(const char* name, float& value, const char* meaning) {
  verb_->add_option(name, value, meaning)->check(CLI::PositiveNumber)->capture_default_str();
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
