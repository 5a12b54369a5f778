// SPDX-License-Identifier: Apache-2.0
// Parses the fields and numbers of lines.
#include <creek/mapreduce/detail/csv_reader.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <creek/core/error.hpp>
#include <creek/core/io/data_fault.hpp>
#include <cstring>
#include <type_traits>

namespace creek::mapreduce::detail {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

const char* find(const char* at, const char* end, char c) {
  const void* const found = std::memchr(at, c, static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

/// Returns the line that begins at `at`, without its end, and advances `at` past it.
std::string_view next_line(const char*& at, const char* end) {
  const char* const begin = at;
  const char* line_end = find(at, end, '\n');
  at = line_end == end ? end : line_end + 1;
  if (line_end != begin && line_end[-1] == '\r') --line_end;
  return {begin, static_cast<std::size_t>(line_end - begin)};
}

constexpr double powers_of_ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/// Parses numbers of few digits: a whole number and a power of ten that the type holds exactly, so
/// that one division rounds correctly [Clinger 1990]. Returns false for others, valid or not.
template <class Number>
bool parse_short(std::string_view text, Number& to) {
  constexpr bool single = std::is_same_v<Number, float>;
  constexpr std::uint64_t most = std::uint64_t{1} << (single ? 24 : 53);
  constexpr std::size_t max_bytes = 17;  // sign, point and 15 digits
  if (text.size() > max_bytes || text.empty()) return false;
  const bool negative = text[0] == '-';
  std::uint64_t whole = 0;
  std::size_t digits = 0, point = text.size();
  for (std::size_t i = negative ? 1 : 0; i < text.size(); ++i) {
    const auto digit = static_cast<unsigned char>(text[i] - '0');
    if (digit < 10) {
      whole = whole * 10 + digit;
      ++digits;
    } else if (text[i] == '.' && point == text.size()) {
      point = i;
    } else {
      return false;
    }
  }
  const std::size_t behind = point == text.size() ? 0 : text.size() - 1 - point;
  if (digits == 0 || whole > most || behind > (single ? 10 : 15)) return false;
  const Number value = static_cast<Number>(whole) / static_cast<Number>(powers_of_ten[behind]);
  to = negative ? -value : value;
  return true;
}

/// Parses a number; returns null, or the reason why it is invalid.
template <class Number>
const char* parse(std::string_view text, Number& to) {
  if (parse_short(text, to)) return nullptr;
  if (text.empty()) return "is empty";
  const std::string_view digits =
      text.size() > 1 && text[0] == '+' && text[1] != '-' ? text.substr(1) : text;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), to);
  if (code == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    return "is not a number";
  }
  if (code == std::errc::result_out_of_range) {
    return std::is_same_v<Number, float> ? "is out of the range of float"
                                         : "is out of the range of double";
  }
  return std::isfinite(to) ? nullptr : "is not a finite number";
}

bool is_number(std::string_view text) {
  double ignored;
  const char* const why = parse(text, ignored);
  return why == nullptr || std::strstr(why, "range") != nullptr;
}

/// Returns the 0-based position if a column's name is a 1-based number.
std::optional<std::size_t> position(const std::string& name) {
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (code != std::errc{} || end != name.data() + name.size()) return {};
  return number - 1;
}

char separator_of(std::string_view line) {
  bool quoted = false;
  for (const char c : line) {
    quoted ^= c == '"';
    if (!quoted && (c == ',' || c == ';' || c == '\t')) return c;
  }
  return ' ';
}

}  // namespace

void check_csv_format(const csv_format& format, std::size_t exactly) {
  if (exactly != 0 && !format.columns.empty() && format.columns.size() != exactly) {
    throw usage_error(
        fmt::format("columns: {} are chosen, but {} are needed", format.columns.size(), exactly));
  }
  for (const std::string& name : format.columns) {
    const auto number = position(name);
    if (name == "0") throw usage_error("column 0: they are counted from 1");
    if (!number && format.header == csv_header::absent) {
      throw usage_error("column '" + shown(name) + "': there is no header with names");
    }
  }
  constexpr std::string_view never = "\"\n\r.+-0123456789eE";
  if (format.separator != 0 && never.find(format.separator) != std::string_view::npos) {
    throw usage_error("separator '" + shown({&format.separator, 1}) + "': part of fields or lines");
  }
}

void csv_streams::put(std::uint32_t file, csv_facts facts) {
  const std::lock_guard lock(mutex_);
  facts_.insert_or_assign(file, std::move(facts));
}

std::optional<csv_facts> csv_streams::facts_of(std::uint32_t file) const {
  const std::lock_guard lock(mutex_);
  const auto found = facts_.find(file);
  if (found == facts_.end()) return {};
  return found->second;
}

bool csv_reader::inspect(const text_split& split) {
  learn(split);
  if (!file_) return false;  // only blank lines so far
  streams_.put(split.from.file, *std::exchange(file_, std::nullopt));
  return true;
}

template <class Number>
void csv_reader::read(const text_split& split, std::vector<Number>& to) {
  if (!file_ || number_ != split.from.file) {
    number_ = split.from.file;
    file_.reset();
    if (files_.mapped(number_).empty()) {
      file_ = streams_.facts_of(number_);
    } else {
      learn(split);
    }
  }
  if (!file_) return;  // only blank lines so far
  const char* at = split.text.data();
  const char* const end = at + split.text.size();
  if (split.from.offset < file_->begin) {
    at += std::min<std::uint64_t>(file_->begin - split.from.offset, split.text.size());
  }
  while (at != end) {
    const std::string_view line = next_line(at, end);
    if (!trimmed(line).empty()) read_line(split, line, to);
  }
}
template void csv_reader::read(const text_split&, std::vector<float>&);
template void csv_reader::read(const text_split&, std::vector<double>&);

template <class Number>
void csv_reader::read_line(const text_split& split, std::string_view line,
                           std::vector<Number>& to) {
  const std::size_t row = to.size();
  to.resize(row + file_->wanted);
  const char* at = line.data();
  std::size_t index = 0;
  for (; at != nullptr; ++index) {
    const field found = next_field(split, at, line.data() + line.size(), index);
    at = found.next;
    if (index >= file_->places.size() || file_->places[index] == not_wanted) continue;
    if (const char* why = parse(found.text, to[row + file_->places[index]])) {
      complain_about(split, found.text.data(), index,
                     found.text.empty() ? why : fmt::format("'{}' {}", shown(found.text), why));
    }
  }
  if (index != file_->places.size()) {
    complain(split, line.data(),
             fmt::format("{} field{}, and the first line has {}", index, index == 1 ? "" : "s",
                         file_->places.size()));
  }
}

/// Returns the field that begins at `at`, without surrounding blanks or quotes.
csv_reader::field csv_reader::next_field(const text_split& split, const char* at, const char* end,
                                         std::size_t index) const {
  while (at != end && is_blank(*at) && *at != file_->separator) ++at;
  const bool by_blanks = file_->separator == ' ';
  if (by_blanks) {
    while (at != end && is_blank(*at)) ++at;
  }
  const char* const begin = at;
  std::string_view text;
  if (at != end && *at == '"') {
    do at = find(at + 1, end, '"') + 1;  // a doubled quote is part of the text
    while (at < end && *at == '"');
    if (at > end) {
      complain_about(
          split, begin, index,
          "a quote that its line does not close (line ends in quotes are not supported)");
    }
    text = {begin + 1, static_cast<std::size_t>(at - begin - 2)};
    while (at != end && is_blank(*at) && *at != file_->separator) ++at;
    if (at != end && *at != file_->separator && !(by_blanks && is_blank(at[-1]))) {
      complain_about(split, begin, index, "more behind the closing quote");
    }
  } else {
    at = by_blanks ? std::find_if(at, end, is_blank) : find(at, end, file_->separator);
    text = trimmed({begin, static_cast<std::size_t>(at - begin)});
  }
  if (by_blanks) {
    while (at != end && is_blank(*at)) ++at;
    return {text, at == end ? nullptr : at};
  }
  return {text, at == end ? nullptr : at + 1};
}

/// Finds the first line of the split's file that is not blank: in the split or, if the file is
/// mapped, before it.
void csv_reader::learn(const text_split& split) {
  const std::string_view mapped = files_.mapped(split.from.file);
  const std::string_view text = mapped.empty() ? split.text : mapped;
  const std::uint64_t offset = mapped.empty() ? split.from.offset : 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  if (offset == 0 && text.starts_with("\xEF\xBB\xBF")) at += 3;  // a byte order mark
  while (at != end) {
    const char* const begin = at;
    const std::string_view line = next_line(at, end);
    if (trimmed(line).empty()) continue;
    file_ = csv_facts{};
    file_->begin = offset + static_cast<std::uint64_t>(begin - text.data());
    file_->separator = format_.separator != 0 ? format_.separator : separator_of(line);
    if (learn_names({text, split.stable, {split.from.file, offset}}, line)) {
      file_->begin = offset + static_cast<std::uint64_t>(at - text.data());
    }
    return;
  }
}

/// Reads the names from the first line. Returns true if it is a header.
bool csv_reader::learn_names(const text_split& split, std::string_view line) {
  std::vector<std::string> fields;
  for (const char* at = line.data(); at != nullptr;) {
    if (fields.size() == max_columns) {  // before they take more memory than the file
      complain(split, line.data(), fmt::format("more than {} columns", max_columns));
    }
    const field found = next_field(split, at, line.data() + line.size(), fields.size());
    std::string& name = fields.emplace_back(found.text);
    for (std::size_t i = 0; (i = name.find("\"\"", i)) != std::string::npos; ++i) name.erase(i, 1);
    at = found.next;
  }
  choose(split, line.data(), fields);
  if (format_.header == csv_header::absent) return false;
  bool numbers = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    numbers |= file_->places[i] != not_wanted && is_number(fields[i]);
  }
  const bool named = std::ranges::any_of(
      format_.columns, [](const std::string& name) { return !position(name).has_value(); });
  if (format_.header == csv_header::automatic && !named && numbers) return false;
  file_->names = std::move(fields);
  return true;
}

/// Determines the requested fields and their positions in a row.
void csv_reader::choose(const text_split& split, const char* line,
                        const std::vector<std::string>& fields) {
  file_->places.assign(fields.size(), not_wanted);
  if (format_.columns.empty()) {
    for (std::size_t i = 0; i < fields.size(); ++i) file_->places[i] = i;
  }
  for (std::size_t i = 0; i < format_.columns.size(); ++i) {
    const std::string& name = format_.columns[i];
    const std::size_t at = position(name).value_or(
        static_cast<std::size_t>(std::ranges::find(fields, name) - fields.begin()));
    if (at >= fields.size()) {
      complain(split, line,
               fmt::format("no column '{}': {}", shown(name),
                           position(name) ? fmt::format("there are {}", fields.size())
                                          : shown(fmt::format("{}", fmt::join(fields, ", ")))));
    }
    if (file_->places[at] != not_wanted) {
      complain(split, line, fmt::format("column '{}' is asked for twice", shown(name)));
    }
    file_->places[at] = i;
  }
  file_->wanted = format_.columns.empty() ? fields.size() : format_.columns.size();
  if (exactly_ != 0 && file_->wanted != exactly_) {
    complain(split, line,
             fmt::format("{} column{}, not {}: say which are meant", file_->wanted,
                         file_->wanted == 1 ? "" : "s", exactly_));
  }
}

void csv_reader::complain(const text_split& split, const char* at, const std::string& what) const {
  fail(data_fault::malformed,
       fmt::format("{}:{}: {}", files_.name(split.from.file), files_.line_of(split, at), what));
}

void csv_reader::complain_about(const text_split& split, const char* at, std::size_t index,
                                const std::string& what) const {
  const std::string name = index < file_->names.size() && !file_->names[index].empty()
                               ? fmt::format(" ({})", shown(file_->names[index]))
                               : "";
  complain(split, at, fmt::format("column {}{}: {}", index + 1, name, what));
}

}  // namespace creek::mapreduce::detail
