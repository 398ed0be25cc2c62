#include "cli/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <new>
#include <ostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/descriptor.h"
#include "base/machine_fault.h"
#include "base/suggest.h"
#include "base/terminal_text.h"
#include "base/version.h"
#include "cli/error.h"
#include "cli/kit/set_up.h"
#include "cli/system/collection.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli {

namespace {

constexpr const char* kMeaning = "Puzzles on distributed training of neural networks";

/// What was asked for, and how to print the answer.
struct Wish {
  ChosenVerb verb = verbs::overview;
  ColourChoice colour = ColourChoice::automatic;
  bool ascii = false;
  std::string collection;  ///< a folder; empty: the repository's own puzzles
};

ColourChoice colour_choice(const std::string& word) {
  if (word == "auto") return ColourChoice::automatic;
  if (word == "always") return ColourChoice::always;
  if (word == "never") return ColourChoice::never;
  throw CLI::ValidationError("--color", "takes auto, always or never, not " + word);
}

/// The library's help, with meanings in lines that fit the terminal: it leaves them to be broken inside of words.
class HelpOfWidth final : public CLI::Formatter {
 public:
  explicit HelpOfWidth(int width) : width_(width) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* verb) const override {
    return entry(verb->get_display_name(true), verb->get_description());
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return filled(CLI::Formatter::make_usage(app, std::move(name)));
  }
  std::string make_description(const CLI::App* app) const override { return filled(app->get_description()); }
  std::string make_footer(const CLI::App* app) const override { return filled(app->get_footer()); }

 private:
  static constexpr int kIndentOfAll = 2;  ///< what --help-all shifts the options of verbs by

  std::string filled(const std::string& text) const {
    return text.empty() ? text : fmt::format("{}\n", fmt::join(fill_lines(text, width_), "\n"));
  }

  std::string entry(const std::string& name, const std::string& meaning) const {
    const int left = static_cast<int>(get_column_width());
    const std::string head = "  " + name;
    const std::string margin = "\n" + spaces(left);
    const std::string begin = columns_of(head) < left ? padded(head, left) : head + margin;
    return fmt::format("{}{}\n", begin, fmt::join(fill_lines(meaning, width_ - left - kIndentOfAll), margin));
  }

  int width_;
};

void describe(CLI::App& app, Wish& wish, AddVerbs add_verbs) {
  app.name("./shardlings");
  app.formatter(std::make_shared<HelpOfWidth>(output_width()));  // the verbs inherit it
  app.set_version_flag("--version", std::string("shardlings ") + version());
  app.set_help_all_flag("--help-all", "the help of all commands");
  app.add_option_function<std::string>(
         "--color,--colour", [&wish](const std::string& word) { wish.colour = colour_choice(word); },
         "auto, always or never")
      ->option_text("WHEN");
  app.add_flag("--ascii", wish.ascii, "no characters beyond ASCII (the default without a UTF-8 locale)");
  app.add_option("--collection", wish.collection, "the puzzles of this folder, which has puzzles/ and solutions/")
      ->option_text("FOLDER");
  app.require_subcommand(0, 1);
  app.footer(
      "Exit status: 0 passed, 1 failed, 2 wrong use, 3 not judged: the machine's fault. A puzzle is named by its "
      "number, "
      "id or a part of its name.");
  CommandLine line(app, wish.verb);
  add_verbs(line);
}

/// The verb among the arguments, for messages; empty if there is none.
std::string verb_of(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? std::string() : verbs[0]->get_name();
}

/// The option that this argument was meant for as a second value; empty if it was not.
std::string option_before(const CLI::App& app, const std::vector<std::string>& arguments, const std::string& extra) {
  const auto at = std::find(arguments.begin(), arguments.end(), extra);
  if (app.get_subcommands().empty() || at - arguments.begin() < 2 || extra.starts_with("-")) return "";
  const std::string& name = *(at - 2);
  const CLI::Option* option = name.starts_with("-") ? app.get_subcommands()[0]->get_option_no_throw(name) : nullptr;
  return option && option->get_items_expected_max() > 0 && !option->get_allow_extra_args() ? name : "";
}

/// Of an option that has more or fewer values than it takes.
std::string explain_count(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const CLI::Option* option : app.get_subcommands().empty()
                                       ? std::vector<const CLI::Option*>()
                                       : std::as_const(*app.get_subcommands()[0]).get_options()) {
    const auto is_it = [&](const std::string& argument) {
      const std::string name = argument.substr(0, argument.find('='));
      return name.starts_with("-") && option->check_name(name);
    };
    const auto times = std::count_if(arguments.begin(), arguments.end(), is_it);
    const auto found = std::find_if(arguments.begin(), arguments.end(), is_it);
    if (found == arguments.end()) continue;
    if (option->get_items_expected_max() == 0 && found->find('=') != std::string::npos) {
      return fmt::format("{0} takes no value: write {0} alone.", found->substr(0, found->find('=')));
    }
    if (option->get_items_expected_max() == 1 && times > 1) {
      return fmt::format("{} is there {} times, and takes one value.", *found, times);
    }
    if (option->get_items_expected_max() >= 1 && found + 1 == arguments.end()) {
      return fmt::format("{} needs a value.", *found);
    }
  }
  return "";
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
    if (const std::string option = option_before(app, arguments, extras[0]); !option.empty()) {
      return fmt::format("{} takes one value: {} is one too many. {}", option, extras[0], help);
    }
    const char* kind = extras[0].starts_with("-") ? "option" : "argument";
    return fmt::format("{} has no {} {}. {}", verb.empty() ? "./shardlings" : verb, kind, extras[0], help);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    if (const std::string text = explain_count(app, arguments); !text.empty()) return fmt::format("{} {}", text, help);
  }
  return fmt::format("{}. {}", error.what(), help);
}

/// What went wrong, in lines of the terminal where it goes to one.
void complain(std::ostream& err, const std::string& text) {
  if (isatty(STDERR_FILENO) == 0) {
    err << text << '\n';
    return;
  }
  for (const std::string& line : wrap(text, output_width())) err << line << '\n';
}

/// What a verb needs of a collection.
system::Prepare preparation_for(const std::string& verb) {
  if (verb == "new") return system::Prepare::make;
  for (const char* reads : {"", "list", "explain", "hint", "reset", "solution", "quiz", "records"}) {
    if (verb == reads) return system::Prepare::nothing;
  }
  return system::Prepare::build;
}

int call(const std::string& program, const Wish& wish, const CLI::App& app, std::ostream& out, std::ostream& err) {
  const auto say = [&err](const std::string& text) { err << text << std::endl; };
  try {
    Context context = make_context(system::find_project(program), out, err, wish.colour);
    if (kit::has_parts(context.project)) {
      kit::set_up(context.project, say);
      kit::provide_stubs(context.project);
    }
    if (!wish.collection.empty()) {
      context.project = system::with_collection(context.project, wish.collection, preparation_for(verb_of(app)), say);
    }
    if (wish.ascii) context.charset = report::Charset::ascii;
    context.grammar = [&app] { return grammar_of(app); };
    return wish.verb(context);
  } catch (const AnotherDoesIt&) {
    return kPassed;
  } catch (const std::bad_alloc&) {
    complain(err, advice_on(ENOMEM));
    return kNotJudged;
  } catch (const MachineFault& error) {
    complain(err, error.what());
    return kNotJudged;
  } catch (const std::system_error& error) {
    const std::string advice = advice_on(error.code().value());
    complain(err, error.what() + (advice.empty() ? "" : ". " + advice));
    return advice.empty() ? kWrongUse : kNotJudged;
  } catch (const std::exception& error) {
    complain(err, error.what());
    return kWrongUse;
  }
}

/// What to do where no more files may be open; empty where some may. Asked at the beginning, as every part would say
/// something else about files that it cannot open.
std::string want_of_files() {
  constexpr std::size_t kEnough = 12;
  std::array<Descriptor, kEnough> some;
  for (Descriptor& file : some) {
    file.reset(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return advice_on(errno);
  }
  return "";
}

/// The status, once everything has been written that was said: an answer that nobody can read is none.
int delivered(int status, std::ostream& out, std::ostream& err) {
  out.flush();
  if (out) return status;
  // The stream has forgotten why.
  const int why = write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
  err << with_advice("The answer could not be written", why) << '\n';
  return kNotJudged;
}

/// What was asked for, done.
int answer(const CLI::App& app, const Wish& wish, const std::string& program, std::ostream& out, std::ostream& err) {
  if (const std::string want = want_of_files(); !want.empty()) {
    err << want << '\n';
    return kNotJudged;
  }
  return delivered(call(program, wish, app, out, err), out, err);
}

/// The library takes them off the end.
std::vector<std::string> backwards(const std::vector<std::string>& arguments) {
  return {arguments.rbegin(), arguments.rend()};
}

}  // namespace

grammar::Grammar grammar_of_verbs(AddVerbs add_verbs) {
  CLI::App app(kMeaning);
  Wish wish;
  describe(app, wish, add_verbs);
  return grammar_of(std::as_const(app));
}

std::optional<int> try_verbs(AddVerbs add_verbs, const std::string& program, const std::vector<std::string>& arguments,
                             std::ostream& out, std::ostream& err) {
  CLI::App app(kMeaning);
  Wish wish;
  describe(app, wish, add_verbs);
  try {
    app.parse(backwards(arguments));
  } catch (const CLI::ParseError&) {  // no other error: a verb that is added wrongly must not go unnoticed
    return std::nullopt;
  }
  return answer(app, wish, program, out, err);
}

int run_app_of(AddVerbs add_verbs, const std::string& program, const std::vector<std::string>& arguments,
               std::ostream& out, std::ostream& err) {
  CLI::App app(kMeaning);
  Wish wish;
  describe(app, wish, add_verbs);
  try {
    app.parse(backwards(arguments));
  } catch (const CLI::Success& help) {  // --help and --version
    app.exit(help, out, err);
    return delivered(kPassed, out, err);
  } catch (const CLI::ParseError& error) {
    complain(err, explain_error(app, error, arguments));
    return kWrongUse;
  }
  return answer(app, wish, program, out, err);
}

}  // namespace shardlings::cli
