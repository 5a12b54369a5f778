// SPDX-License-Identifier: Apache-2.0
// Completion for bash, zsh and fish: tables of what may follow, by the command that the words so
// far name. A value is completed as a file unless the option takes one of a few names.
#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

#include "pages.hpp"

namespace creek::command_line {
namespace {

/// Quotes text in single quotes, as each of the three shells understands it.
std::string quoted(std::string_view text, std::string_view quote) {
  std::string made = "'";
  for (const char c : text) {
    if (c == '\'') {
      made += quote;
    } else {
      made += c;
    }
  }
  return made + "'";
}
constexpr std::string_view posix_quote = "'\\''", fish_quote = "\\'";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> command_names(const command& of) {
  std::vector<std::string> names;
  for (const auto& below : of.subcommands()) {
    if (!below->is_hidden()) names.push_back(below->name());
  }
  return names;
}

/// Returns the words allowed as an argument: commands, or names that the arguments take.
std::vector<std::string> words_of(const command& of) {
  std::vector<std::string> words = command_names(of);
  for (const option* each : of.all_options()) {
    if (!each->is_positional()) continue;
    words.insert(words.end(), each->choices().begin(), each->choices().end());
  }
  return words;
}

std::vector<std::string> option_names(const command& of) {
  std::vector<std::string> names;
  for (const option* each : of.all_options()) {
    if (each->is_positional()) continue;
    const std::vector<std::string> own = each->names();
    names.insert(names.end(), own.begin(), own.end());
  }
  names.insert(names.end(), {"-h", "--help"});
  return names;
}

/// Returns the lines of a case statement that lead from a command and a word to the subcommand.
std::string descents(const command& program) {
  std::string text;
  for (const page& one : pages_of(program)) {
    if (one.words.size() > 1) text += fmt::format("      '{0}') at='{0}' ;;\n", name_of(one, ' '));
  }
  return text;
}

/// Returns the lines of a case statement over `COMMAND:OPTION` for options that take a value.
/// `complete` returns the action for the names that are allowed; no names stand for a file.
std::string values(const command& program,
                   const std::function<std::string(const std::vector<std::string>&)>& complete) {
  std::string text;
  for (const page& one : pages_of(program)) {
    for (const option* each : one.about->all_options()) {
      if (each->is_positional() || each->is_flag()) continue;
      for (const std::string& name : each->names()) {
        text += fmt::format("    '{}:{}') {}; return ;;\n", name_of(one, ' '), name,
                            complete(each->choices()));
      }
    }
  }
  return text;
}

}  // namespace

std::vector<page> pages_of(const command& program) {
  std::vector<page> all{{{program.name()}, &program}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const page above = all[i];
    for (const auto& below : above.about->subcommands()) {
      if (below->is_hidden()) continue;
      page one = above;
      one.words.push_back(below->name());
      one.about = below.get();
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::string name_of(const page& one, char separator) {
  std::string text;
  for (const std::string& word : one.words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string bash_completion(const command& program) {
  const std::string& name = program.name();
  std::string text = fmt::format(
      "# Completion of {0} for bash, made by `{0} generate bash`.\n"
      "_{0}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} at={0} options= words= i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$at ${{COMP_WORDS[i]}}\" in\n{1}    esac\n"
      "  done\n"
      "  case \"$at:${{COMP_WORDS[COMP_CWORD - 1]}}\" in\n{2}  esac\n"
      "  case \"$at\" in\n",
      name, descents(program), values(program, [](const std::vector<std::string>& choices) {
        return choices.empty()
                   ? std::string(":")
                   : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", joined(choices));
      }));
  for (const page& one : pages_of(program)) {
    text += fmt::format("    '{}') options='{}' words='{}' ;;\n", name_of(one, ' '),
                        joined(option_names(*one.about)), joined(words_of(*one.about)));
  }
  return text + fmt::format(
                    "  esac\n"
                    "  if [[ $word == -* ]]; then words=$options; fi\n"
                    "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                    "}}\n"
                    "complete -o default -F _{0} {0}\n",
                    name);
}

namespace {

/// Returns `name:description` for zsh's _describe, whose names have no colons.
std::string described(const std::string& name, const std::string& about) {
  std::string escaped;
  for (const char c : name) escaped += c == ':' ? "\\:" : std::string(1, c);
  return quoted(escaped + ":" + about, posix_quote);
}

std::string zsh_lists(const page& one) {
  std::string options, words;
  for (const option* each : one.about->all_options()) {
    for (const std::string& name : each->names()) {
      if (!each->is_positional()) options += " " + described(name, each->description());
    }
  }
  options += " " + described("--help", "Print this help message and exit");
  for (const auto& below : one.about->subcommands()) {
    if (!below->is_hidden()) words += " " + described(below->name(), below->description());
  }
  if (one.about->subcommands().empty()) {
    for (const std::string& word : words_of(*one.about)) words += " " + described(word, "");
  }
  return fmt::format("    '{}')\n      options=({})\n      words_here=({}) ;;\n", name_of(one, ' '),
                     options, words);
}

}  // namespace

std::string zsh_completion(const command& program) {
  const std::string& name = program.name();
  std::string text = fmt::format(
      "#compdef {0}\n"
      "# Completion of {0} for zsh, made by `{0} generate zsh`.\n"
      "_{0}() {{\n"
      "  local at={0} i\n"
      "  local -a options words_here\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$at ${{words[i]}}\" in\n{1}    esac\n"
      "  done\n"
      "  case \"$at:${{words[CURRENT-1]}}\" in\n{2}  esac\n"
      "  case \"$at\" in\n",
      name, descents(program), values(program, [](const std::vector<std::string>& choices) {
        return choices.empty() ? std::string("_files") : "compadd -- " + joined(choices);
      }));
  for (const page& one : pages_of(program)) text += zsh_lists(one);
  return text + fmt::format(
                    "  esac\n"
                    "  if [[ $PREFIX == -* ]]; then\n"
                    "    _describe option options\n"
                    "  elif (( $#words_here )); then\n"
                    "    _describe word words_here\n"
                    "  else\n"
                    "    _files\n"
                    "  fi\n"
                    "}}\n"
                    "_{} \"$@\"\n",
                    name);
}

namespace {

std::string fish_option(const std::string& condition, const option& one) {
  std::string line = condition;
  for (const std::string& name : one.names()) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!one.choices().empty()) {
    line += " -x -a " + quoted(joined(one.choices()), fish_quote);
  } else if (!one.is_flag()) {
    line += " -r";
  }
  return line + " -d " + quoted(one.description(), fish_quote) + "\n";
}

}  // namespace

std::string fish_completion(const command& program) {
  const std::string& name = program.name();
  std::string paths, lines;
  for (const page& one : pages_of(program)) {
    const std::string at = name_of(one, ' ');
    paths += " '" + at + "'";
    const std::string condition = fmt::format("complete -c {} -n '__{}_at {}'", name, name, at);
    for (const auto& below : one.about->subcommands()) {
      if (below->is_hidden()) continue;
      lines += fmt::format("{} -f -a {} -d {}\n", condition, below->name(),
                           quoted(below->description(), fish_quote));
    }
    for (const option* each : one.about->all_options()) {
      if (!each->is_positional()) {
        lines += fish_option(condition, *each);
      } else if (!each->choices().empty()) {
        lines +=
            fmt::format("{} -f -a {}\n", condition, quoted(joined(each->choices()), fish_quote));
      }
    }
    lines += condition + " -s h -l help -d 'Print this help message and exit'\n";
  }
  return fmt::format(
      "# Completion of {0} for fish, made by `{0} generate fish`.\n"
      "set -g __{0}_commands{1}\n"
      "function __{0}_at --description 'Whether the words so far name this command'\n"
      "  set -l words (commandline -opc)\n"
      "  set -l at {0}\n"
      "  for word in $words[2..-1]\n"
      "    if contains -- \"$at $word\" $__{0}_commands\n"
      "      set at \"$at $word\"\n"
      "    end\n"
      "  end\n"
      "  test \"$at\" = \"$argv\"\n"
      "end\n{2}",
      name, paths, lines);
}

}  // namespace creek::command_line
