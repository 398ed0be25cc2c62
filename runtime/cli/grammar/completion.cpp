#include "cli/grammar/completion.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace shardlings::cli::grammar {
namespace {

std::vector<std::string> names_of(const std::vector<Option>& options) {
  std::vector<std::string> names;
  for (const Option& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> names_of(const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  return names;
}

/// The options of all verbs that take a value, each once.
std::vector<std::string> with_value(const Grammar& grammar) {
  std::vector<std::string> names;
  const auto add = [&](const std::vector<Option>& options) {
    for (const Option& option : options) {
      if (option.form.empty()) continue;
      for (const std::string& name : option.names) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
  };
  add(grammar.options);
  for (const Verb& verb : grammar.verbs) add(verb.options);
  return names;
}

/// What bash knows of each verb: a line of a case statement.
std::string bash_case(const Verb& verb) {
  return fmt::format("    {}) options+=\" {}\" puzzles={} ;;\n", verb.name, fmt::join(names_of(verb.options), " "),
                     verb.takes_puzzle() ? "yes" : "");
}

std::string for_bash(const Grammar& grammar) {
  std::string cases;
  for (const Verb& verb : grammar.verbs) cases += bash_case(verb);
  const std::vector<std::string> verbs = names_of(grammar.verbs);
  return fmt::format(
      R"(# Completion of ./shardlings for bash: source <(./shardlings completion bash)
_shardlings() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  local verb= options="{options}" puzzles= folder i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${{COMP_WORDS[i]}} in
      {verbs_or}) verb=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $before in
    {with_value}) return ;;
  esac
  case $verb in
{cases}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -z $verb ]]; then
    COMPREPLY=($(compgen -W "{verbs}" -- "$word"))
  elif [[ -n $puzzles ]]; then
    folder=$(dirname -- "${{COMP_WORDS[0]}}")/puzzles
    COMPREPLY=($(cd -- "$folder" 2> /dev/null && compgen -d -- "$word"))
  fi
}}
complete -o default -F _shardlings shardlings
)",
      fmt::arg("options", fmt::format("{}", fmt::join(names_of(grammar.options), " "))),
      fmt::arg("verbs_or", fmt::format("{}", fmt::join(verbs, " | "))),
      fmt::arg("with_value", fmt::format("{}", fmt::join(with_value(grammar), " | "))), fmt::arg("cases", cases),
      fmt::arg("verbs", fmt::format("{}", fmt::join(verbs, " "))));
}

/// "name:meaning", as zsh's _describe takes it.
std::string described(const std::string& name, const std::string& meaning) {
  std::string escaped = name;
  for (std::size_t at = 0; (at = escaped.find(':', at)) != std::string::npos; at += 2) escaped.insert(at, "\\");
  return quoted_for_shell(escaped + ":" + meaning);
}

std::string described(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    for (const std::string& name : option.names) text += " " + described(name, option.meaning);
  }
  return text;
}

std::string for_zsh(const Grammar& grammar) {
  std::string verbs, cases;
  for (const Verb& verb : grammar.verbs) {
    verbs += " " + described(verb.name, verb.meaning);
    cases += fmt::format("    {}) options+=({}); puzzles={} ;;\n", verb.name, described(verb.options),
                         verb.takes_puzzle() ? "yes" : "");
  }
  return fmt::format(R"(#compdef shardlings
# Completion of ./shardlings for zsh: source <(./shardlings completion zsh)
_shardlings() {{
  local -a verbs options ids
  local verb= puzzles= word i
  verbs=({verbs})
  options=({options})
  for ((i = 2; i < CURRENT; ++i)); do
    for word in $verbs; do
      [[ ${{word%%:*}} == ${{words[i]}} ]] && verb=${{words[i]}} && break 2
    done
  done
  case $verb in
{cases}  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    _describe -o option options
  elif [[ -z $verb ]]; then
    _describe command verbs
  elif [[ -n $puzzles ]]; then
    ids=(${{words[1]:h}}/puzzles/*(N/:t))
    compadd -a ids
    _files
  else
    _files
  fi
}}
compdef _shardlings shardlings
)",
                     fmt::arg("verbs", verbs), fmt::arg("options", described(grammar.options)),
                     fmt::arg("cases", cases));
}

/// One option: "-l json", "-s v", with -r where it takes a value.
std::string fish_option(const std::string& condition, const Option& option) {
  std::string line = "complete -c shardlings" + condition;
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return line + (option.form.empty() ? "" : " -r") + " -d " + quoted_for_shell(option.meaning) + "\n";
}

std::string for_fish(const Grammar& grammar) {
  std::string text =
      "# Completion of ./shardlings for fish: ./shardlings completion fish | source\n"
      "function __shardlings_puzzles\n"
      "  set -l words (commandline -opc)\n"
      "  for folder in (dirname $words[1])/puzzles/*/\n"
      "    basename $folder\n"
      "  end\n"
      "end\n";
  for (const Option& option : grammar.options) text += fish_option("", option);
  for (const Verb& verb : grammar.verbs) {
    text += fmt::format("complete -c shardlings -f -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                        quoted_for_shell(verb.meaning));
    const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", verb.name);
    for (const Option& option : verb.options) text += fish_option(condition, option);
    if (verb.takes_puzzle()) text += "complete -c shardlings" + condition + " -a '(__shardlings_puzzles)'\n";
  }
  return text;
}

}  // namespace

const std::vector<std::string>& shells() {
  static const std::vector<std::string> kShells = {"bash", "zsh", "fish"};
  return kShells;
}

std::string completion_for(const std::string& shell, const Grammar& grammar) {
  if (shell == "bash") return for_bash(grammar);
  return shell == "zsh" ? for_zsh(grammar) : for_fish(grammar);
}

}  // namespace shardlings::cli::grammar
