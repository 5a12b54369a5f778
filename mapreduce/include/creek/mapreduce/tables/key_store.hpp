// SPDX-License-Identifier: Apache-2.0
// Keeps keys that are views, or tuples with views, valid: views into text that outlives the run
// stay views, others are copied. Does nothing for keys of other types.
#pragma once

#include <concepts>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace creek::mapreduce {

/// Returns whether `view` lies within `text`.
[[nodiscard]] inline bool lies_in(std::string_view text, std::string_view view) noexcept {
  const auto at = static_cast<std::size_t>(view.data() - text.data());
  return at < text.size() && view.size() <= text.size() - at;
}

/// True for keys that are views or tuples with views, possibly into a mapped file.
template <class Key>
inline constexpr bool has_views = std::same_as<Key, std::string_view>;
template <class... Parts>
inline constexpr bool has_views<std::tuple<Parts...>> = (std::same_as<Parts, std::string_view> ||
                                                         ...);

template <class Key>
class key_store {
 public:
  void source(std::string_view, bool) noexcept {}
  void keep(Key&) noexcept {}
  [[nodiscard]] byte_arena take_arena() noexcept { return {}; }
};

template <>
class key_store<std::string_view> {
 public:
  void source(std::string_view text, bool stable) noexcept {
    stable_ = stable ? text : std::string_view{};
  }
  void keep(std::string_view& key) {
    if (!lies_in(stable_, key)) key = arena_.keep(key);
  }
  [[nodiscard]] byte_arena take_arena() noexcept { return std::move(arena_); }

 private:
  std::string_view stable_;
  byte_arena arena_;
};

template <class... Parts>
requires has_views<std::tuple<Parts...>>
class key_store<std::tuple<Parts...>> {
 public:
  void source(std::string_view text, bool stable) noexcept { views_.source(text, stable); }
  void keep(std::tuple<Parts...>& key) {
    std::apply([this](auto&... parts) { (this->keep_part(parts), ...); }, key);
  }
  [[nodiscard]] byte_arena take_arena() noexcept { return views_.take_arena(); }

 private:
  template <class Part>
  void keep_part(Part& part) {
    if constexpr (std::same_as<Part, std::string_view>) views_.keep(part);
  }

  key_store<std::string_view> views_;
};

}  // namespace creek::mapreduce
