// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::command_line {
namespace {

std::string braced(const std::vector<std::string>& names) {
  return fmt::format("{{{}}}", fmt::join(names, ","));
}

/// Returns CLI11's message in the form `what: why`.
std::string describe(const CLI::App& app, const CLI::ParseError& problem) {
  const std::string text = problem.what();
  if (app.get_subcommands().empty() && !app.remaining().empty()) {
    return fmt::format("{}: no such command or option (see {} --help)", app.remaining().front(),
                       app.get_name());
  }
  if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) {
    return "command line: " + text + " (see --help)";
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr) {
    const auto colon = text.rfind(": ");
    const auto what = colon == std::string::npos ? text : text.substr(colon + 2);
    return what + ": not an option or argument of this command (see --help)";
  }
  return text.find(": ") == std::string::npos ? "command line: " + text : text;
}

}  // namespace

// --- option

option* option::type_name(const std::string& name) {
  parsed_.type_name(name);
  return this;
}

option* option::option_text(const std::string& text) {
  parsed_.option_text(text);
  return this;
}

option* option::show_default() {
  parsed_.capture_default_str();
  return this;
}

option* option::required() {
  parsed_.required();
  return this;
}

void option::explain(const std::string& text) {
  parsed_.check(CLI::Validator([](std::string&) { return std::string(); }, text));
}

option* option::range(double min, double max) {
  how_.allowed = {min, max, false};
  explain(fmt::format("{} to {}", min, max));
  return this;
}

option* option::at_least(double min) {
  how_.allowed.min = min;
  return this;
}

option* option::positive() {
  const std::string type = parsed_.get_type_name();
  how_.allowed.min = type == "FLOAT" ? 0 : 1;
  how_.allowed.above_min = type == "FLOAT";
  explain("POSITIVE");
  return this;
}

option* option::among(std::vector<std::string> names) {
  choices_ = std::move(names);
  const auto known = [this](std::string& word) {
    if (std::ranges::find(choices_, word) != choices_.end()) return std::string();
    return fmt::format("{} not in {}", word, braced(choices_));
  };
  parsed_.check(CLI::Validator(known, braced(choices_)));
  return this;
}

option* option::excludes(const option* other) {
  parsed_.excludes(&other->parsed_);
  return this;
}

option* option::one_word() {
  parsed_.allow_extra_args(false);
  return this;
}

option* option::delimiter(char separator) {
  how_.separator = separator;
  return this;
}

option* option::suggest(std::vector<std::string> names) {
  choices_ = std::move(names);
  return this;
}

std::size_t option::count() const {
  return parsed_.count();
}

std::vector<std::string> option::names() const {
  if (is_positional()) return {parsed_.get_name(true)};
  std::vector<std::string> all;
  for (const std::string& name : parsed_.get_snames()) all.push_back("-" + name);
  for (const std::string& name : parsed_.get_lnames()) all.push_back("--" + name);
  return all;
}

const std::string& option::description() const {
  return parsed_.get_description();
}

std::string option::value_text() const {
  const std::string text = CLI::Formatter().make_option_opts(&parsed_);
  return text.empty() ? text : text.substr(1);  // the text begins after a blank
}

bool option::is_positional() const {
  return parsed_.get_positional();
}

bool option::is_required() const {
  return parsed_.get_required();
}

// --- option_group

option_group::option_group(CLI::App& parsed, std::string name, std::string description)
    : parsed_(parsed), name_(std::move(name)), description_(std::move(description)) {}
option_group::~option_group() = default;

option* option_group::keep(CLI::Option* parsed, bool is_flag) {
  options_.push_back(std::make_unique<option>(*parsed, is_flag));
  option& kept = *options_.back();
  kept.how_.option = parsed->get_name();
  return &kept;
}

option* option_group::add(const std::string& names, value type, const std::string& description) {
  auto assign = std::make_shared<std::function<void(const std::vector<std::string>&)>>();
  CLI::Option* const parsed = parsed_.add_option(
      names,
      [assign](const CLI::results_t& words) {
        (*assign)(words);
        return true;
      },
      description, false, type.print);
  parsed->type_name(type.type_name);
  if (type.is_list) parsed->expected(CLI::detail::expected_max_vector_size);
  option* const kept = keep(parsed, false);
  *assign = [kept, set = std::move(type.assign)](const std::vector<std::string>& words) {
    set(words, kept->how_);
  };
  return kept;
}

option* option_group::add_flag(const std::string& names, bool& variable,
                               const std::string& description) {
  return keep(parsed_.add_flag(names, variable, description), true);
}

option* option_group::add_flag(const std::string& names, std::function<void()> set,
                               const std::string& description) {
  return keep(parsed_.add_flag_callback(names, std::move(set), description), true);
}

option* option_group::add_named(const std::string& names, std::vector<std::string> known,
                                const std::string& description, bool is_list,
                                std::function<void(const chosen_indices&)> choose) {
  value type;
  type.type_name = "ENUM";
  type.is_list = is_list;
  type.print = [] { return std::string(); };
  type.assign = [known, choose = std::move(choose)](const std::vector<std::string>& words,
                                                    const assignment& how) {
    chosen_indices chosen;
    for (const std::string& word : items_of(words, how)) {
      const auto found = std::ranges::find(known, word);
      if (found == known.end()) {
        throw usage_error(fmt::format("{}: {} not in {}", how.option, word, braced(known)));
      }
      chosen.push_back(static_cast<std::size_t>(found - known.begin()));
    }
    choose(chosen);
  };
  option* const added = add(names, std::move(type), description);
  added->explain(braced(known));
  added->choices_ = std::move(known);
  return added;
}

// --- command

command::command(std::unique_ptr<CLI::App> program, const std::string& name,
                 const std::string& description)
    : option_group(*program, name, description), program_(std::move(program)) {}
command::command(const std::string& description, const std::string& name)
    : command(std::make_unique<CLI::App>(description, name), name, description) {}
command::command(CLI::App& parsed, const std::string& name, const std::string& description)
    : option_group(parsed, name, description) {}
command::~command() = default;

command* command::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App* const below = parsed().add_subcommand(name, description);
  below->footer("");  // does not inherit its parent's
  subcommands_.emplace_back(new command(*below, name, description));
  return subcommands_.back().get();
}

option_group* command::add_option_group(const std::string& name, const std::string& description) {
  CLI::App* const group = parsed().add_option_group(name, description);
  groups_.push_back(std::make_unique<option_group>(*group, name, description));
  return groups_.back().get();
}

command* command::require_subcommand() {
  parsed().require_subcommand(1);
  return this;
}

command* command::footer(const std::string& text) {
  footer_ = text;
  parsed().footer(text);
  return this;
}

void command::version(const std::string& text) {
  keep(parsed().set_version_flag("--version", text), true);
}

command* command::hide() {
  is_hidden_ = true;
  parsed().group("");
  return this;
}

void command::callback(std::function<void()> run) {
  parsed().callback(std::move(run));
}

std::vector<const option*> command::all_options() const {
  std::vector<const option*> all;
  for (const auto& each : options()) all.push_back(each.get());
  for (const auto& group : groups_) {
    for (const auto& each : group->options()) all.push_back(each.get());
  }
  return all;
}

const option* command::find(const std::string& name) const {
  const auto all = all_options();
  const auto found =
      std::ranges::find_if(all, [&](const option* each) { return each->parsed_.check_name(name); });
  return found != all.end() ? *found : nullptr;
}

std::size_t command::count(const std::string& name) const {
  const option* const found = find(name);
  return found != nullptr ? found->count() : 0;
}

option* command::add_command_to_run(std::vector<std::string>& words,
                                    const std::string& description) {
  runs_command_ = true;
  return add_option("command", words, description)->required()->option_text("COMMAND...");
}

bool command::parse(const std::vector<std::string>& words) {
  std::vector<std::string> backwards(words.rbegin(), words.rend());
  for (const auto& each : subcommands_) {
    if (!each->runs_command_ || words.empty() || words.front() != each->name()) continue;
    auto first = words.begin() + 1;
    while (first != words.end() && first->starts_with('-') && each->find(*first) != nullptr) {
      ++first;
    }
    if (first == words.end() || first->starts_with('-')) continue;
    backwards.insert(backwards.begin() + (words.end() - first), "--");
  }
  try {
    parsed().parse(backwards);
  } catch (const CLI::Success& help_or_version) {
    parsed().exit(help_or_version);
    return false;
  } catch (const CLI::ParseError& problem) {
    throw usage_error(describe(parsed(), problem));
  }
  return true;
}

}  // namespace creek::command_line
