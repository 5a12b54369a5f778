// SPDX-License-Identifier: Apache-2.0
// Keeps keys that are views, or pairs or tuples with views, valid: views into text that outlives
// the run stay views, others are copied.
#pragma once

#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/tables/byte_arena.hpp>
#include <cstddef>
#include <string_view>
#include <utility>

namespace creek::mapreduce {

/// Returns whether `view` lies within `text`.
[[nodiscard]] inline bool lies_in(std::string_view text, std::string_view view) noexcept {
  const auto at = static_cast<std::size_t>(view.data() - text.data());
  return at < text.size() && view.size() <= text.size() - at;
}

/// Keeps keys of one type; this one has nothing to do, for keys without views.
template <class Key>
class key_store {
 public:
  void source(std::string_view, bool) noexcept {}
  void keep(Key&) noexcept {}
  [[nodiscard]] byte_arena take_arena() noexcept { return {}; }
};

template <class Key>
requires(detail::holds_views<Key>()) class key_store<Key> {
 public:
  void source(std::string_view text, bool stable) noexcept {
    stable_ = stable ? text : std::string_view{};
  }
  void keep(Key& key) {
    detail::for_each_view(key, [this](std::string_view& view) {
      if (!lies_in(stable_, view)) view = arena_.keep(view);
    });
  }
  [[nodiscard]] byte_arena take_arena() noexcept { return std::move(arena_); }

 private:
  std::string_view stable_;
  byte_arena arena_;
};

}  // namespace creek::mapreduce
