// SPDX-License-Identifier: Apache-2.0
// Keys as the general table stores them: a byte string of up to 16 bytes in the table itself, so
// that comparing it needs no access to the text.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <creek/core/threads/prefetch.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/detail/readable_bytes.hpp>
#include <creek/mapreduce/detail/spread_key.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace creek::mapreduce {

/// A key that is stored as it is.
template <class Key>
class stored_key {
 public:
  /// Whether comparing keys may read text that is elsewhere and known to this class.
  static constexpr bool has_text_outside = false;

  /// `source`: text of which all bytes are readable, for keys that are views into it.
  stored_key(Key&& key, std::string_view /*source*/) : key_(std::move(key)) {}

  [[nodiscard]] std::uint64_t hash(const hash_secret& secret) const noexcept(std::integral<Key>) {
    return hash_with(secret, key_);
  }
  /// Returns bits that differ for most keys, the highest of them best.
  [[nodiscard]] std::uint64_t cheap_bits() const noexcept requires std::integral<Key> {
    return detail::spread_key(key_);
  }
  /// Returns whether the key is valid as long as `source`.
  [[nodiscard]] bool stays_with(std::string_view source) const {
    bool stays = true;
    detail::for_each_view(
        key_, [&](const std::string_view& view) { stays = stays && lies_in(source, view); });
    return stays;
  }
  /// Makes the key independent of temporary text.
  void keep(key_store<Key>& keys) { keys.keep(key_); }
  /// Calls `f(std::string_view&)` for each view of memory elsewhere.
  template <class F>
  void for_each_view(F&& f) {
    detail::for_each_view(key_, f);
  }
  /// Calls `f(key)` with a reference that may be moved from.
  template <class F>
  decltype(auto) visit(F&& f) {
    return f(key_);
  }
  [[nodiscard]] const Key& get() const noexcept { return key_; }

  friend bool operator==(const stored_key& a, const stored_key& b) { return a.key_ == b.key_; }

  /// Returns whether a key from a table is a view of the table's memory.
  [[nodiscard]] static constexpr bool is_inside(const Key&) noexcept { return false; }

 private:
  Key key_;
};

/// A byte string: up to 16 bytes zero-padded, a longer one as a view.
template <>
class stored_key<std::string_view> {
 public:
  static constexpr bool has_text_outside = true;
  static constexpr std::size_t longest_inside = sizeof(padded_bytes);
  static_assert(sizeof(std::string_view) == longest_inside);

  stored_key(std::string_view key, std::string_view source) noexcept {
    if (key.size() > longest_inside) {
      size_ = longest_inside + 1;
      std::memcpy(bytes_.data(), &key, sizeof(key));
      return;
    }
    size_ = static_cast<std::uint32_t>(key.size());
    const auto at = static_cast<std::size_t>(key.data() - source.data());
    const bool readable = source.size() >= longest_inside && at <= source.size() - longest_inside;
    const padded_bytes padded = readable ? detail::pad_readable_bytes(key) : pad_bytes(key);
    std::memcpy(bytes_.data(), &padded, sizeof(padded));
  }

  [[nodiscard]] std::uint64_t hash(const hash_secret& secret) const noexcept {
    return is_inside() ? hash_bytes(std::bit_cast<padded_bytes>(bytes_), size_, secret)
                       : hash_long(view(), secret);
  }
  /// Returns bits that differ for most keys, the highest of them best.
  [[nodiscard]] std::uint64_t cheap_bits() const noexcept {
    std::uint64_t first, last;  // of the padded bytes, or of the text
    const std::string_view text =
        is_inside() ? std::string_view(bytes_.data(), longest_inside) : view();
    std::memcpy(&first, text.data(), sizeof(first));
    std::memcpy(&last, text.data() + text.size() - sizeof(last), sizeof(last));
    return detail::spread_key(detail::spread_key(first) ^ last);
  }
  [[nodiscard]] bool stays_with(std::string_view source) const noexcept {
    return is_inside() || lies_in(source, view());
  }
  void keep(key_store<std::string_view>& keys) {
    for_each_view([&](std::string_view& text) { keys.keep(text); });
  }
  template <class F>
  void for_each_view(F&& f) {
    if (is_inside()) return;
    std::string_view text = view();
    f(text);
    std::memcpy(bytes_.data(), &text, sizeof(text));
  }
  template <class F>
  decltype(auto) visit(F&& f) {
    std::string_view key = get();
    return f(key);
  }
  [[nodiscard]] bool is_inside() const noexcept { return size_ <= longest_inside; }
  /// Fetches the begin of a long key.
  void prefetch_text() const noexcept { prefetch_to_read(view().data()); }
  /// Returns the bytes; valid as long as this object.
  [[nodiscard]] std::string_view get() const noexcept {
    return is_inside() ? std::string_view(bytes_.data(), size_) : view();
  }

  friend bool operator==(const stored_key& a, const stored_key& b) noexcept {
    if (a.size_ != b.size_) return false;
    if (a.is_inside()) {
      return std::bit_cast<padded_bytes>(a.bytes_) == std::bit_cast<padded_bytes>(b.bytes_);
    }
    return a.view() == b.view();
  }

  [[nodiscard]] static constexpr bool is_inside(std::string_view key) noexcept {
    return key.size() <= longest_inside;
  }

 private:
  /// Returns a long key.
  [[nodiscard]] std::string_view view() const noexcept {
    return std::bit_cast<std::string_view>(bytes_);
  }

  std::uint32_t size_;  // more than longest_inside: the bytes are those of a view
  std::array<char, longest_inside> bytes_;
};

}  // namespace creek::mapreduce
