// SPDX-License-Identifier: Apache-2.0
// Finds the files of an input: those that are named, and those below named directories.
#include <creek/mapreduce/inputs/files.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <creek/core/error.hpp>
#include <memory>

#include "decoder.hpp"
#include "modified_at.hpp"
#include "record_size.hpp"
#include "stream_reading.hpp"

namespace creek::mapreduce {
namespace {

struct close_directory {
  void operator()(DIR* d) const { closedir(d); }
};

/// Lists the names in a directory, sorted, so that every run names the same file in its message.
/// Returns an errno, or 0.
int list(const std::string& folder, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, close_directory> directory(opendir(folder.c_str()));
  if (directory == nullptr) return errno;
  errno = 0;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return errno;
}

}  // namespace

void text_files::add_named(const std::string& name) {
  struct stat facts {};
  if (name == "-") {
    files_.push_back({.name = name, .stream = true});
  } else if (stat(name.c_str(), &facts) != 0) {
    leave_out(name, errno);
  } else if (S_ISDIR(facts.st_mode)) {
    add_tree(name);
  } else if (S_ISREG(facts.st_mode)) {
    add_regular(name, facts, symbolic_links::follow);
  } else if (S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode)) {
    files_.push_back({.name = name, .stream = true});
  } else {
    leave_out(name, S_ISSOCK(facts.st_mode) ? ENXIO : ENOTSUP);
  }
}

/// Adds all regular files below `folder`: those in it by name, then those of its subfolders. Uses
/// an explicit stack: a deep tree must not exhaust the stack of a fiber.
void text_files::add_tree(std::string folder) {
  std::vector<std::string> open{std::move(folder)};
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    std::vector<std::string> names;
    if (const int why = list(at, names); why != 0) leave_out(at, why);
    const auto first_below = static_cast<std::ptrdiff_t>(open.size());
    for (const std::string& entry : names) {
      const std::string name = at.ends_with('/') ? at + entry : at + '/' + entry;
      struct stat facts {};
      if (lstat(name.c_str(), &facts) != 0) {
        if (errno != ENOENT) leave_out(name, errno);  // removed since it was listed
      } else if (S_ISDIR(facts.st_mode)) {
        open.push_back(name);
      } else if (S_ISREG(facts.st_mode)) {
        add_regular(name, facts, symbolic_links::refuse);
      }
    }
    std::reverse(open.begin() + first_below, open.end());  // the last is taken first
  }
}

void text_files::add_regular(const std::string& name, const struct stat& facts,
                             symbolic_links followed) {
  if (faccessat(AT_FDCWD, name.c_str(), R_OK, AT_EACCESS) != 0) return leave_out(name, errno);
  file found{.name = name,
             .size = static_cast<std::uint64_t>(facts.st_size),
             .device = facts.st_dev,
             .inode = facts.st_ino,
             .modified = modified_at(facts),
             .followed = followed};
  if (found.size >= settings_.split && !try_map(found)) return;
  if (settings_.layout && !found.map.text().empty()) {
    found.layout = settings_.layout(name, found.map.text().substr(0, detail::head_bytes));
    detail::check_size(name, found.layout, found.size);
  }
  bytes_ += found.size;
  mapped_bytes_ += found.map.text().size();
  files_.push_back(std::move(found));
}

/// Maps a large plain file; a compressed one, or one that cannot be mapped, is read as a stream
/// later. Returns false if it cannot be opened.
bool text_files::try_map(file& to) {
  try {
    const open_file opened(to.name, to.followed);
    std::array<char, detail::magic_bytes> first;
    const ssize_t got = pread(opened.descriptor(), first.data(), first.size(), 0);
    if (got < 0) throw error(errno, to.name);
    if (detail::format_of({first.data(), static_cast<std::size_t>(got)}) == nullptr) {
      try {
        to.map = mapped_file(opened, to.size);
      } catch (const error&) {  // file system without mappings, or too many
      }
    }
    return true;
  } catch (const error& e) {
    leave_out(to.name, e.code().value());
    return false;
  }
}

}  // namespace creek::mapreduce
