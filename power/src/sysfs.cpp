// SPDX-License-Identifier: Apache-2.0
#include "sysfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <system_error>

#include <creek/core/error.hpp>

namespace creek::power::sysfs {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t page = 4096;  // maximum length of a sysfs attribute
constexpr int most_cpus = 1 << 16;

std::string_view first_line(std::string_view text) noexcept {
  text = text.substr(0, text.find('\n'));
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

struct bytes_read {
  std::size_t count = 0;
  int error = 0;
};

bytes_read read_from_start(int fd, std::span<char> into) noexcept {
  ssize_t got = 0;
  do {
    got = pread(fd, into.data(), into.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return {0, errno};
  return {static_cast<std::size_t>(got), 0};
}

bool is_digits(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Parses "3" or "0-7"; returns {-1, -1} for anything else.
std::pair<int, int> parse_range(std::string_view word) {
  const std::size_t dash = std::min(word.find('-'), word.size());
  const std::string_view ends[] = {word.substr(0, dash),
                                   dash == word.size() ? word : word.substr(dash + 1)};
  int values[2] = {-1, -1};
  for (int i = 0; i < 2; ++i) {
    if (!is_digits(ends[i])) return {-1, -1};
    std::from_chars(ends[i].data(), ends[i].data() + ends[i].size(), values[i]);
  }
  return {values[0], values[1]};
}

/// Orders strings of digits by their numeric value.
bool numbers_in_order(const std::string& a, const std::string& b) noexcept {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

std::string root() {
  const char* const asked = std::getenv("CREEK_SYSFS");
  if (asked == nullptr || *asked == '\0') return "/sys";
  std::string folder = asked;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  struct stat found {};
  if (stat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    throw usage_error("CREEK_SYSFS='" + folder + "' is not a folder; name one laid out like /sys");
  }
  return folder;
}

line read_line(const std::string& path) {
  const file opened(path, O_RDONLY);
  if (!opened) return {{}, opened.error()};
  std::array<char, page> text;
  std::string_view found;
  const int error = opened.read_line(text, found);
  return {std::string(found), error};
}

number parse_number(std::string_view text) noexcept {
  text = first_line(text);
  if (text.empty()) return {0, ENODATA};
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return {0, EINVAL};
  return {value, 0};
}

number read_number(const std::string& path) {
  const file opened(path, O_RDONLY);
  if (!opened) return {0, opened.error()};
  return opened.read_number();
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t begin = text.find_first_not_of(blanks); begin != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    found.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return found;
}

std::vector<int> parse_cpus(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::vector<int> cpus;
  for (const std::string& word : words(spaced)) {
    const auto [first, last] = parse_range(word);
    if (first < 0 || last < first || last >= most_cpus) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<std::string> entries(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> found;
  const auto close = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> listing(opendir(folder.c_str()), close);
  if (!listing) return found;
  while (const dirent* each = readdir(listing.get())) {
    const std::string_view name = each->d_name;
    if (name != "." && name != ".." && name.starts_with(prefix)) found.emplace_back(name);
  }
  std::sort(found.begin(), found.end(), numbers_in_order);
  return found;
}

std::string why(std::string_view doing, const std::string& path, int error) {
  const std::string reason = error == ENODATA  ? "it is empty"
                             : error == EINVAL ? "it does not have or accept such a value"
                                               : std::generic_category().message(error);
  return "cannot " + std::string(doing) + " " + path + ": " + reason;
}

file::file(const std::string& path, int flags) noexcept
    : fd_(open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK)), error_(fd_ < 0 ? errno : 0) {}

file& file::operator=(file&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(error_, other.error_);
  return *this;
}

file::~file() {
  if (fd_ >= 0) close(fd_);
}

number file::read_number() const noexcept {
  std::array<char, 32> text;  // longer than any number
  const auto [count, error] = read_from_start(fd_, text);
  return error != 0 ? number{0, error} : parse_number({text.data(), count});
}

int file::read_line(std::span<char> into, std::string_view& line) const noexcept {
  const auto [count, error] = read_from_start(fd_, into);
  line = error != 0 ? std::string_view() : first_line({into.data(), count});
  return error;
}

int file::write(std::string_view text) const noexcept {
  ssize_t written = 0;
  do {
    written = pwrite(fd_, text.data(), text.size(), 0);
  } while (written < 0 && errno == EINTR);
  if (written < 0) return errno;
  return static_cast<std::size_t>(written) == text.size() ? 0 : EIO;
}

}  // namespace creek::power::sysfs
