// SPDX-License-Identifier: Apache-2.0
// Text that people wrote: the documentation, headers and scripts of this machine.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// Returns `bytes` bytes of the files below some folders of the system, in the order of their
/// names, several times if they are fewer. Bytes that are no letters, digits or signs of ASCII are
/// blanks, but for the ends of lines, so that all peers mean the same by a word. Leaves out files
/// with a zero byte, and compressed ones. Throws std::runtime_error if there is no such text.
inline std::string real_text(std::size_t bytes) {
  namespace fs = std::filesystem;
  std::string text;
  for (const char* folder : {"/usr/share/doc", "/usr/include", "/usr/share/perl",
                             "/usr/lib/python3", "/usr/share/man", "/usr/share/common-licenses"}) {
    std::vector<fs::path> paths;
    std::error_code none;
    for (fs::recursive_directory_iterator at(folder, none), end; at != end; at.increment(none)) {
      if (at->is_regular_file(none) && !at->is_symlink(none)) paths.push_back(at->path());
    }
    std::ranges::sort(paths);
    for (const fs::path& path : paths) {
      if (text.size() >= bytes) break;
      const auto extension = path.extension();
      if (extension == ".gz" || extension == ".xz") continue;
      std::ifstream file(path, std::ios::binary);
      const std::string all{std::istreambuf_iterator<char>(file), {}};
      if (all.find('\0') == all.npos) text += all;
    }
  }
  if (text.empty()) throw std::runtime_error("no text below /usr/share/doc, /usr/include ...");
  while (text.size() < bytes) text.append(text, 0, bytes - text.size());
  text.resize(bytes);
  for (char& each : text) {
    if (each != '\n' && (each < '!' || each > '~')) each = ' ';
  }
  text.back() = '\n';
  return text;
}

}  // namespace bench
