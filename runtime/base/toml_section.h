/// \file
/// A table of a TOML file, read strictly: every key is known and has its type.
#pragma once

#include <toml++/toml.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace shardlings {

class TomlSection {
 public:
  /// `what` names it in messages ("[[cases]]", empty for the whole file), `file` begins them ("puzzle.toml").
  TomlSection(const toml::table& table, std::string file, std::string what)
      : table_(table), file_(std::move(file)), what_(std::move(what)) {}

  /// The keys that it may have, and that the functions below take. To be called first, so that a misspelt key is named,
  /// not the one that is missing because of it; again, where a value leaves fewer. Throws if there is another key.
  void has_only(const std::vector<std::string>& keys);

  bool has(const std::string& key) const { return find(key) != nullptr; }
  std::string text(const std::string& key);
  std::string text_or(const std::string& key, const std::string& fallback);
  bool flag_or(const std::string& key, bool fallback);
  /// A whole number, or any, of at least `least`.
  std::int64_t integer(const std::string& key, std::int64_t least);
  std::int64_t integer_or(const std::string& key, std::int64_t fallback, std::int64_t least);
  /// The same where it has to fit into an int.
  int small(const std::string& key, int least);
  int small_or(const std::string& key, int fallback, int least);
  double number_or(const std::string& key, double fallback, double least);
  std::vector<std::string> texts_or_none(const std::string& key);
  std::vector<std::int64_t> integers_or_none(const std::string& key, std::int64_t least);
  /// The table under the key, if it is there; every table of a list of tables, none if it is not there.
  std::optional<TomlSection> section(const std::string& key);
  std::vector<TomlSection> sections(const std::string& key);
  /// Every key with its number: for tables whose keys are free.
  std::vector<std::pair<std::string, double>> all_numbers();
  /// The same where every key has a list of numbers.
  std::map<std::string, std::vector<double>> all_lists();

  /// Throws std::runtime_error: "puzzle.toml:12: message", with the line of the key or of the table.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;

 private:
  /// The same with the name of the section before the message.
  [[noreturn]] void wrong(const std::string& key, const std::string& message) const;

  const toml::node* find(const std::string& key) const;
  double number(const std::string& key, const toml::node& node, double least) const;

  const toml::table& table_;
  std::string file_, what_;
  std::set<std::string> known_;
};

}  // namespace shardlings
