// SPDX-License-Identifier: Apache-2.0
#include "value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <sstream>
#include <string_view>

#include <creek/core/error.hpp>

namespace creek::command_line {
namespace {

template <class T>
struct item_type {
  using type = T;
};
template <class T>
struct item_type<std::vector<T>> {
  using type = T;
};
template <class T>
struct item_type<std::optional<T>> {
  using type = T;
};

[[noreturn]] void refuse(const assignment& how, const std::string& wanted, std::string_view word) {
  throw usage_error(fmt::format("{} must be {}, got {}", how.option, wanted, word));
}

/// Throws for an integer that its type or the option does not allow; `below`: it is too small.
template <std::integral T>
[[noreturn]] void refuse_range(const assignment& how, std::string_view word, bool below) {
  const auto limit = [](double asked, T of_type) {
    return std::isfinite(asked) ? static_cast<T>(asked) : of_type;
  };
  const T min = limit(how.allowed.min, std::numeric_limits<T>::min());
  const T max = limit(how.allowed.max, std::numeric_limits<T>::max());
  if (below && !std::isfinite(how.allowed.max) && std::isfinite(how.allowed.min)) {
    refuse(how, fmt::format("{} or more", min), word);
  }
  refuse(how, fmt::format("between {} and {}", min, max), word);
}

/// Parses text. An empty word after an option comes from a script's variable that was not set.
void parse(std::string_view word, std::string& to, const assignment& how) {
  if (word.empty() && how.option.starts_with('-')) {
    throw usage_error(fmt::format("{}: the value is empty", how.option));
  }
  to = word;
}

void parse(std::string_view word, bool& to, const assignment& how) {
  const bool yes = word == "1" || word == "true" || word == "yes" || word == "on";
  if (!yes && word != "0" && word != "false" && word != "no" && word != "off") {
    refuse(how, "true or false", word);
  }
  to = yes;
}

template <std::integral T>
void parse(std::string_view word, T& to, const assignment& how) {
  std::string_view digits = word;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, failure] = std::from_chars(digits.data(), end, magnitude, base);
  if (failure == std::errc::invalid_argument || stopped != end) {
    refuse(how, "a whole number", "'" + std::string(word) + "'");
  }
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  constexpr std::uint64_t most_below = std::is_signed_v<T> ? most + 1 : 0;
  if (failure != std::errc() || magnitude > (negative ? most_below : most)) {
    refuse_range<T>(how, word, negative);
  }
  to = static_cast<T>(negative ? -magnitude : magnitude);
  const auto number = static_cast<double>(to);
  const bool below = number < how.allowed.min;
  if (below || number > how.allowed.max) refuse_range<T>(how, word, below);
}

std::string range_text(const number_range& allowed) {
  if (allowed.above_min) return fmt::format("more than {}", allowed.min);
  if (std::isinf(allowed.max)) return fmt::format("{} or more", allowed.min);
  return fmt::format("between {} and {}", allowed.min, allowed.max);
}

void parse(std::string_view word, double& to, const assignment& how) {
  const char* const end = word.data() + word.size();
  const auto [stopped, failure] = std::from_chars(word.data(), end, to);
  if (failure != std::errc() || stopped != end || !std::isfinite(to)) {
    refuse(how, "a number", "'" + std::string(word) + "'");
  }
  const auto& [min, max, above_min] = how.allowed;
  if (to < min || to > max || (above_min && to == min)) {
    refuse(how, range_text(how.allowed), word);
  }
}

template <class T>
void assign(T& variable, const std::vector<std::string>& words, const assignment& how) {
  parse(words.back(), variable, how);
}

template <class T>
void assign(std::optional<T>& variable, const std::vector<std::string>& words,
            const assignment& how) {
  parse(words.back(), variable.emplace(), how);
}

template <class T>
void assign(std::vector<T>& variable, const std::vector<std::string>& words,
            const assignment& how) {
  variable.clear();
  for (const std::string& item : items_of(words, how)) parse(item, variable.emplace_back(), how);
}

template <class T>
std::string print(const T& variable) {
  std::ostringstream text;
  text << variable;
  return text.str();
}

template <class T>
std::string print(const std::optional<T>& variable) {
  return variable ? print(*variable) : std::string();
}

template <class T>
std::string print(const std::vector<T>& variable) {
  std::string text;
  for (const T& item : variable) text += (text.empty() ? "" : ",") + print(item);
  return "[" + text + "]";
}

template <class T>
constexpr const char* name_of_type() {
  if constexpr (std::same_as<T, bool>) return "BOOLEAN";
  if constexpr (std::signed_integral<T>) return "INT";
  if constexpr (std::unsigned_integral<T>) return "UINT";
  if constexpr (std::floating_point<T>) return "FLOAT";
  return "TEXT";
}

std::uint64_t parse_size(std::string_view word, const assignment& how) {
  constexpr std::string_view prefixes = "kmgtp";
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  auto [unit, failure] = std::from_chars(word.data(), end, number);
  std::string letters(unit, end);
  std::ranges::transform(letters, letters.begin(), [](unsigned char c) { return std::tolower(c); });
  int shift = 0;
  if (!letters.empty() && letters != "b") {
    const std::size_t power = prefixes.find(letters.front());
    const std::string rest = letters.substr(1);
    if (power == prefixes.npos || (!rest.empty() && rest != "b" && rest != "i" && rest != "ib")) {
      failure = std::errc::invalid_argument;
    } else {
      shift = 10 * static_cast<int>(power + 1);
    }
  }
  const std::uint64_t most = (std::uint64_t{1} << 56) - 1;
  if (failure != std::errc() || number > most >> shift) {
    refuse(how, "a size, such as 64M or 2G", "'" + std::string(word) + "'");
  }
  return number << shift;
}

}  // namespace

std::vector<std::string> items_of(const std::vector<std::string>& words, const assignment& how) {
  if (how.separator == 0) return words;
  std::vector<std::string> items;
  for (const std::string& word : words) {
    for (std::size_t begin = 0; begin <= word.size();) {
      const std::size_t end = std::min(word.find(how.separator, begin), word.size());
      if (end == begin) {
        throw usage_error(fmt::format("{}: the list '{}' has an empty item", how.option, word));
      }
      items.push_back(word.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return items;
}

template <class T>
value value_of(T& variable) {
  using item = typename item_type<T>::type;
  value made;
  made.type_name = name_of_type<item>();
  made.is_list = std::same_as<T, std::vector<item>>;
  made.assign = [&variable](const std::vector<std::string>& words, const assignment& how) {
    assign(variable, words, how);
  };
  made.print = [&variable] { return print(variable); };
  return made;
}

value size_value_of(std::optional<std::uint64_t>& variable) {
  value made;
  made.type_name = "SIZE";
  made.assign = [&variable](const std::vector<std::string>& words, const assignment& how) {
    variable = parse_size(words.back(), how);
  };
  made.print = [] { return std::string(); };
  return made;
}

template value value_of(bool&);
template value value_of(int&);
template value value_of(unsigned&);
template value value_of(long&);
template value value_of(long long&);
template value value_of(unsigned long&);
template value value_of(double&);
template value value_of(std::string&);
template value value_of(std::optional<unsigned>&);
template value value_of(std::optional<long>&);
template value value_of(std::optional<long long>&);
template value value_of(std::optional<unsigned long>&);
template value value_of(std::optional<double>&);
template value value_of(std::vector<int>&);
template value value_of(std::vector<unsigned>&);
template value value_of(std::vector<long>&);
template value value_of(std::vector<long long>&);
template value value_of(std::vector<std::string>&);

}  // namespace creek::command_line
