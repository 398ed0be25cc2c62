#include "cli/app.h"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/suggest.h"
#include "cli/error.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli {

namespace {

/// What was asked for, and how to print the answer.
struct Wish {
  ChosenVerb verb = verbs::overview;
  ColourChoice colour = ColourChoice::automatic;
  bool ascii = false;
};

ColourChoice colour_choice(const std::string& word) {
  if (word == "auto") return ColourChoice::automatic;
  if (word == "always") return ColourChoice::always;
  if (word == "never") return ColourChoice::never;
  throw CLI::ValidationError("--color", "takes auto, always or never, not " + word);
}

void describe(CLI::App& app, Wish& wish) {
  app.name("./shardlings");
  app.set_version_flag("--version", "shardlings " SHARDLINGS_VERSION);
  app.set_help_all_flag("--help-all", "the help of all commands");
  app.add_option_function<std::string>(
         "--color,--colour", [&wish](const std::string& word) { wish.colour = colour_choice(word); },
         "auto, always or never")
      ->option_text("WHEN");
  app.add_flag("--ascii", wish.ascii, "no characters beyond ASCII (the default without a UTF-8 locale)");
  app.require_subcommand(0, 1);
  app.footer(
      "Exit status: 0 passed, 1 failed, 2 wrong use. A puzzle is named by its number, id or a part of its name.");
  CommandLine line(app, wish.verb);
  verbs::add_all(line);
}

/// The verb among the arguments, for messages; empty if there is none.
std::string verb_of(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? std::string() : verbs[0]->get_name();
}

/// What the command line's library says, in words that tell what to do.
std::string explain_error(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& arguments) {
  const std::string verb = verb_of(app);
  const std::string help = fmt::format("See ./shardlings {}--help.", verb.empty() ? "" : verb + " ");
  if (verb.empty() && !arguments.empty() && !arguments[0].starts_with("-")) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(sub->get_name());
    return fmt::format("There is no command \"{}\".{} {}", arguments[0], did_you_mean(arguments[0], names), help);
  }
  const auto extras = app.remaining(true);
  if (!extras.empty() && dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const char* kind = extras[0].starts_with("-") ? "option" : "argument";
    return fmt::format("{} has no {} {}. {}", verb.empty() ? "./shardlings" : verb, kind, extras[0], help);
  }
  return fmt::format("{}. {}", error.what(), help);
}

int call(const std::string& program, const Wish& wish, std::ostream& out, std::ostream& err) {
  try {
    Context context = make_context(system::find_project(program), out, err, wish.colour);
    if (wish.ascii) context.charset = report::Charset::ascii;
    const int status = wish.verb(context);
    out.flush();
    return status;
  } catch (const std::exception& error) {
    err << error.what() << '\n';
    return kWrongUse;
  }
}

}  // namespace

int run_app(const std::string& program, const std::vector<std::string>& arguments, std::ostream& out,
            std::ostream& err) {
  CLI::App app("Puzzles on distributed training of neural networks");
  Wish wish;
  describe(app, wish);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& help) {  // --help and --version
    app.exit(help, out, err);
    return kPassed;
  } catch (const CLI::ParseError& error) {
    err << explain_error(app, error, arguments) << '\n';
    return kWrongUse;
  }
  return call(program, wish, out, err);
}

}  // namespace shardlings::cli
