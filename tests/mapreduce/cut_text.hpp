// SPDX-License-Identifier: Apache-2.0
// Lines of text for jobs: cut into pieces of all sizes, on text that stays and on text that goes
// away when it has been mapped, for several numbers of workers.
#pragma once

#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/tasking/runtime.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace guide {

using namespace creek::mapreduce;

inline long number(std::string_view digits) {
  long n = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return n;
}
/// Returns what comes before and after the first comma.
inline std::pair<std::string_view, std::string_view> fields(std::string_view line) {
  const std::size_t comma = line.find(',');
  return {line.substr(0, comma), line.substr(comma + 1)};
}

struct setting {
  std::size_t split;
  bool stays;
};

/// Text that is cut at lines and, if it does not stay, overwritten after each visit.
class cut_text {
 public:
  using split_type = text_split;

  cut_text(std::string_view text, setting chosen)
      : text_(text, chosen.split, text_units::lines), stays_(chosen.stays) {}
  [[nodiscard]] std::size_t splits() const { return text_.splits(); }
  [[nodiscard]] std::uint64_t bytes() const { return text_.bytes(); }
  template <class F>
  void visit(std::size_t i, F&& f) const {
    text_.visit(i, [&](const text_split& piece) {
      if (stays_) return f(piece);
      std::string copy(piece.text);
      f(text_split{copy, false, piece.from});
      std::ranges::fill(copy, '#');
    });
  }

 private:
  text_view text_;
  bool stays_;
};

template <class F>
void for_each_setting(F&& f) {
  for (const unsigned workers : {1u, 2u, 5u}) {
    creek::runtime rt(creek::scheduler_options{.workers = workers});
    for (const std::size_t split : {1u, 37u, 1000u, 1u << 20}) {
      for (const bool stays : {true, false}) {
        SCOPED_TRACE(testing::Message() << workers << " workers, split " << split
                                        << (stays ? "" : ", text goes away"));
        rt.run([&] { f(setting{split, stays}); });
      }
    }
  }
}

inline constexpr std::array both = {strategy::combine_on_emit, strategy::emit_and_group};

template <class Result>
auto as_map(const Result& made) {
  std::map<std::string, std::decay_t<decltype(made[0].value)>> seen;
  for (const auto& [key, value] : made) {
    EXPECT_TRUE(seen.emplace(std::string(key), value).second) << key;
  }
  return seen;
}

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  if (text.size() % 2 != 0) text.pop_back();  // the last line may have no end
  return text;
}

/// Returns short and long names.
inline std::string name_of(std::uint64_t n) {
  return std::string(n % 3 * 10, 'n') + std::to_string(n);
}

}  // namespace guide
