// SPDX-License-Identifier: Apache-2.0
// `creek generate`: manual pages and shell completion, for packages. Hidden from --help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/core/version.hpp>

#include "command_line/command.hpp"
#include "command_line/pages.hpp"
#include "commands.hpp"
#include "output/folder_output.hpp"

namespace creek::tool {
namespace {

struct generate_arguments {
  std::string what;
  std::vector<std::string> words;
  std::string folder;
};

/// Returns the page of the command that `words` name. Throws usage_error if there is none.
command_line::page page_named(const command_line::command& program,
                              const std::vector<std::string>& words) {
  for (const command_line::page& one : command_line::pages_of(program)) {
    if (std::equal(words.begin(), words.end(), one.words.begin() + 1, one.words.end())) return one;
  }
  throw usage_error(fmt::format("generate: '{}' is not a command of creek", fmt::join(words, " ")));
}

void write_pages(const command_line::command& program, const std::string& folder) {
  folder_output pages(folder);
  for (const command_line::page& one : command_line::pages_of(program)) {
    pages.write(name_of(one, '-') + ".1", man_page(one, version()));
  }
  pages.commit();
}

void generate(const command_line::command& program, const generate_arguments& given) {
  if (given.what != "man" && (!given.words.empty() || !given.folder.empty())) {
    throw usage_error("generate: a command and --folder need `man`");
  }
  if (given.what == "bash") {
    fmt::print("{}", bash_completion(program));
  } else if (given.what == "zsh") {
    fmt::print("{}", zsh_completion(program));
  } else if (given.what == "fish") {
    fmt::print("{}", fish_completion(program));
  } else if (given.folder.empty()) {
    fmt::print("{}", man_page(page_named(program, given.words), version()));
  } else {
    write_pages(program, given.folder);
  }
}

}  // namespace

void add_generate(command_line::command& app, int&) {
  auto given = std::make_shared<generate_arguments>();
  auto* command =
      app.add_subcommand("generate", "Print a manual page, or completion for a shell")->hide();
  command->add_option("what", given->what, "man, or a shell: bash, zsh, fish")
      ->required()
      ->among({"man", "bash", "zsh", "fish"});
  command->add_option("command", given->words, "With man: the command (default: the tool itself)");
  command
      ->add_option("--folder", given->folder,
                   "With man: write the pages of all commands to this folder")
      ->type_name("DIR");
  command->footer(R"(Examples:
  creek generate man bench tasking | man -l -
  creek generate man --folder share/man/man1
  source <(creek generate bash))");
  command->callback([given, &app] { generate(app, *given); });
}

}  // namespace creek::tool
