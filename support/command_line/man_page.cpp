// SPDX-License-Identifier: Apache-2.0
// Writes manual pages.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "pages.hpp"

namespace creek::command_line {
namespace {

/// Returns text in the form that roff prints unchanged.
std::string escaped(std::string_view text) {
  std::string made;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) made += "\\&";
    if (c == '\\') {
      made += "\\e";
    } else if (c == '-') {
      made += "\\-";
    } else {
      made += c;
    }
    at_begin = c == '\n';
  }
  return made;
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::string option_entry(const option& one) {
  const std::string value = one.value_text();
  return fmt::format(".TP\n\\fB{}\\fR{}{}\n{}\n", escaped(joined(one.names(), ", ")),
                     value.empty() ? "" : " ", escaped(value), escaped(one.description()));
}

/// Returns the description without the command's name, which the page has printed before.
std::string about(const page& one) {
  const std::string& text = one.about->description();
  const std::string name = one.words.back() + ": ";
  return text.starts_with(name) ? text.substr(name.size()) : text;
}

std::string options_of(const option_group& group, bool by_position) {
  std::string text;
  for (const auto& one : group.options()) {
    if (one->is_positional() == by_position) text += option_entry(*one);
  }
  return text;
}

std::string synopsis(const page& one) {
  std::string text = ".B " + escaped(name_of(one, ' ')) + "\n[\\fIOPTIONS\\fR]";
  for (const option* each : one.about->all_options()) {
    if (!each->is_positional()) continue;
    const std::string name = escaped(each->names().front());
    text += each->is_required() ? " \\fI" + name + "\\fR" : " [\\fI" + name + "\\fR]";
  }
  if (!one.about->subcommands().empty()) text += " \\fICOMMAND\\fR";
  if (!one.operands.empty()) text += " \\fI" + escaped(one.operands) + "\\fR";
  return text + "\n";
}

std::string commands_of(const page& one) {
  std::string text;
  for (const auto& below : one.about->subcommands()) {
    if (below->is_hidden()) continue;
    text +=
        fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", escaped(name_of(one, '-') + "-" + below->name()),
                    escaped(below->description()));
  }
  return text;
}

void add_section(std::string& to, const std::string& title, const std::string& text) {
  if (!text.empty()) to += ".SH " + title + "\n" + text;
}

}  // namespace

std::string man_page(const page& one, const std::string& version) {
  const std::string name = name_of(one, '-');
  std::string title = name;
  for (char& c : title) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  std::string text = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", escaped(title),
                                 one.words.front(), version);
  add_section(text, "NAME", escaped(name) + " \\- " + escaped(about(one)) + "\n");
  add_section(text, "SYNOPSIS", synopsis(one));
  add_section(text, "ARGUMENTS", options_of(*one.about, true));
  add_section(text, "OPTIONS",
              options_of(*one.about, false) +
                  ".TP\n\\fB\\-h, \\-\\-help\\fR\nPrint this help message and exit\n");
  for (const auto& group : one.about->groups()) {
    const std::string about = group->description();
    add_section(text, "\"" + escaped(group->name()) + "\"",
                (about.empty() ? "" : escaped(about) + "\n") + options_of(*group, false));
  }
  add_section(text, "COMMANDS", commands_of(one));
  if (!one.about->footer().empty()) {
    add_section(text, "NOTES", ".nf\n" + escaped(one.about->footer()) + "\n.fi\n");
  }
  if (one.words.size() > 1) {
    page above = one;
    above.words.pop_back();
    add_section(text, "SEE ALSO", ".BR " + escaped(name_of(above, '-')) + " (1)\n");
  }
  return text;
}

}  // namespace creek::command_line
