// SPDX-License-Identifier: Apache-2.0
// Parsers of /proc/self/cgroup and /proc/self/mountinfo; formats in cgroups(7) and proc(5). Lines
// that do not have the format are skipped.
#include "cgroup.hpp"

#include <algorithm>
#include <sstream>

namespace creek::cgroup {
namespace {

// True if `word` is one of the comma-separated items of `list`.
bool has_item(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return false;
}

// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescaped(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

}  // namespace

// "4:cpu,cpuacct:/a/b" (v1) or "0::/a/b" (v2); the path may contain colons.
std::vector<membership> parse_memberships(std::istream& in) {
  std::vector<membership> found;
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const auto path = line.substr(second + 1);
    if (path.empty() || path.front() != '/') continue;
    if (line.substr(0, first) == "0" && controllers.empty()) found.push_back({2, path});
    if (has_item(controllers, "cpu")) found.push_back({1, path});
  }
  return found;
}

// "36 35 98:0 /root /point options [optional fields] - fstype source super_options"
std::vector<mount> parse_mounts(std::istream& in) {
  std::vector<mount> found;
  for (std::string line; std::getline(in, line);) {
    const auto words = words_of(line);
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 2 || dash - words.begin() < 6) continue;
    const std::string& type = dash[1];
    const bool v1_cpu = type == "cgroup" && words.end() - dash > 3 && has_item(dash[3], "cpu");
    if (type != "cgroup2" && !v1_cpu) continue;
    found.push_back({type == "cgroup2" ? 2 : 1, unescaped(words[3]), unescaped(words[4])});
  }
  return found;
}

std::vector<std::filesystem::path> folders_of(const membership& group, const mount& where) {
  namespace fs = std::filesystem;
  const fs::path point = where.point;
  const fs::path inside = fs::path(group.path).lexically_relative(where.root);
  std::vector<fs::path> folders;
  if (!inside.empty() && *inside.begin() != "..") {
    for (fs::path p = inside; !p.empty() && p != "."; p = p.parent_path()) {
      folders.push_back(point / p);
    }
  }
  folders.push_back(point);
  return folders;
}

}  // namespace creek::cgroup
