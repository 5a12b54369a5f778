// SPDX-License-Identifier: Apache-2.0
// Commands, their options and their help. The library that parses (CLI11) is behind command.cpp, so
// that a command's source does not compile it. Variables that options set outlive the parse.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "value.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace creek::command_line {

class option {
 public:
  explicit option(CLI::Option& parsed, bool is_flag) noexcept
      : parsed_(parsed), is_flag_(is_flag) {}
  option(const option&) = delete;
  option& operator=(const option&) = delete;

  // --- Text in --help.
  option* type_name(const std::string& name);
  /// Sets the text that replaces everything --help says about the value.
  option* option_text(const std::string& text);
  option* show_default();

  // --- Allowed values. Numbers out of range and unknown names throw usage_error.
  option* required();
  option* range(double min, double max);
  option* at_least(double min);
  /// Allows only numbers above 0.
  option* positive();
  option* among(std::vector<std::string> names);
  /// Refuses this option together with `other`.
  option* excludes(const option* other);
  /// Sets names for --help and completion; other values may be allowed too.
  option* suggest(std::vector<std::string> names);
  /// Makes a list take one word each time the option is given.
  option* one_word();
  /// Makes a word a list whose items are separated by `separator`.
  option* delimiter(char separator);

  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] bool is_flag() const noexcept { return is_flag_; }
  [[nodiscard]] const std::vector<std::string>& choices() const noexcept { return choices_; }

  // --- For manual pages and completion.
  /// Returns "-n" and "--size", or the name of an argument by position.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const std::string& description() const;
  /// Returns what --help says about the value; empty for a flag.
  [[nodiscard]] std::string value_text() const;
  [[nodiscard]] bool is_positional() const;
  [[nodiscard]] bool is_required() const;

 private:
  friend class option_group;
  friend class command;
  /// Adds `text` to what --help says about the type.
  void explain(const std::string& text);

  CLI::Option& parsed_;
  bool is_flag_;
  assignment how_;
  std::vector<std::string> choices_;
};

template <class E>
using names_of = std::vector<std::pair<std::string, std::type_identity_t<E>>>;

/// Options that --help shows together.
class option_group {
 public:
  option_group(CLI::App& parsed, std::string name, std::string description);
  option_group(const option_group&) = delete;
  option_group& operator=(const option_group&) = delete;
  virtual ~option_group();

  /// Adds an option; `names` is "-n,--size", or a plain word for an argument by position.
  template <class T>
  option* add_option(const std::string& names, T& variable, const std::string& description) {
    return add(names, value_of(variable), description);
  }
  option* add(const std::string& names, value type, const std::string& description);
  option* add_flag(const std::string& names, bool& variable, const std::string& description);
  option* add_flag(const std::string& names, std::function<void()> set,
                   const std::string& description);

  /// Adds an option whose value is given by one of a few names.
  template <class E>
  option* add_choice(const std::string& names, E& variable, const names_of<E>& known,
                     const std::string& description) {
    return add_named(names, words_of(known), description, false,
                     [&variable, known](auto& chosen) { variable = known[chosen.front()].second; });
  }
  template <class E>
  option* add_choice(const std::string& names, std::optional<E>& variable, const names_of<E>& known,
                     const std::string& description) {
    return add_named(names, words_of(known), description, false,
                     [&variable, known](auto& chosen) { variable = known[chosen.front()].second; });
  }
  template <class E>
  option* add_choice(const std::string& names, std::vector<E>& variable, const names_of<E>& known,
                     const std::string& description) {
    return add_named(names, words_of(known), description, true, [&variable, known](auto& chosen) {
      variable.clear();
      for (const std::size_t index : chosen) variable.push_back(known[index].second);
    });
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& description() const noexcept { return description_; }
  [[nodiscard]] const std::vector<std::unique_ptr<option>>& options() const noexcept {
    return options_;
  }

 protected:
  [[nodiscard]] CLI::App& parsed() const noexcept { return parsed_; }
  option* keep(CLI::Option* parsed, bool is_flag);

 private:
  using chosen_indices = std::vector<std::size_t>;

  template <class E>
  static std::vector<std::string> words_of(const std::vector<std::pair<std::string, E>>& known) {
    std::vector<std::string> words;
    for (const auto& each : known) words.push_back(each.first);
    return words;
  }
  option* add_named(const std::string& names, std::vector<std::string> known,
                    const std::string& description, bool is_list,
                    std::function<void(const chosen_indices&)> choose);
  CLI::App& parsed_;
  std::string name_, description_;
  std::vector<std::unique_ptr<option>> options_;
};

class command : public option_group {
 public:
  /// Makes the command of a whole program.
  command(const std::string& description, const std::string& name);
  ~command() override;

  command* add_subcommand(const std::string& name, const std::string& description);
  option_group* add_option_group(const std::string& name, const std::string& description = {});
  command* require_subcommand();
  /// Sets the text that --help prints at its end.
  command* footer(const std::string& text);
  void version(const std::string& text);
  /// Leaves the command out of --help, manual pages and completion.
  command* hide();
  [[nodiscard]] bool is_hidden() const noexcept { return is_hidden_; }
  /// Sets the function to call once the command line was understood and names this command.
  void callback(std::function<void()> run);
  /// Takes what follows from the first word on that is no option, as the words of another command,
  /// whatever they look like. Its own options are flags.
  option* add_command_to_run(std::vector<std::string>& words, const std::string& description);
  /// Returns the option of this command or its groups with this name, or nullptr.
  [[nodiscard]] const option* find(const std::string& name) const;
  /// Returns how often an option was given; 0 if there is no such option.
  [[nodiscard]] std::size_t count(const std::string& name) const;

  [[nodiscard]] const std::string& footer() const noexcept { return footer_; }
  [[nodiscard]] const std::vector<std::unique_ptr<command>>& subcommands() const noexcept {
    return subcommands_;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<option_group>>& groups() const noexcept {
    return groups_;
  }
  /// Returns all options, including those of groups.
  [[nodiscard]] std::vector<const option*> all_options() const;

  /// Parses and runs the callbacks. Returns false if help or the version was printed instead.
  /// Throws usage_error with `what: why`, and what the callbacks throw.
  bool parse(const std::vector<std::string>& words);

 private:
  command(std::unique_ptr<CLI::App> program, const std::string& name,
          const std::string& description);
  command(CLI::App& parsed, const std::string& name, const std::string& description);

  std::unique_ptr<CLI::App> program_;  // null in a subcommand
  std::string footer_;
  bool is_hidden_ = false;
  bool runs_command_ = false;
  std::vector<std::unique_ptr<command>> subcommands_;
  std::vector<std::unique_ptr<option_group>> groups_;
};

}  // namespace creek::command_line
