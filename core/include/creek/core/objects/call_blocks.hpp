// SPDX-License-Identifier: Apache-2.0
// Long arguments and results of calls between ranks that are not copied into messages: the message
// has their lengths, their elements follow as blocks, from the memory of the sender's value into
// that of the receiver's.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/messages/rank_messages.hpp>
#include <creek/core/messages/wire.hpp>

namespace creek::detail {

/// A vector or the like of elements that are copied by their bytes, a string, or a view of one.
template <class T>
concept block_value = string_like<T> ||
    (sent_by_elements<T>&& std::ranges::contiguous_range<T>&& sent_in_blocks<
        std::ranges::range_value_t<T>>&& std::default_initializable<std::ranges::range_value_t<T>>&&
         std::constructible_from<T, std::size_t>);

/// Containers whose memory may outlive all that the caller has, once they are moved: those that
/// take it from a resource of the caller may not.
template <class T>
concept owns_its_memory =
    !std::ranges::view<T> &&
    (
        !requires { typename T::allocator_type; } ||
        requires {
          requires std::allocator_traits<typename T::allocator_type>::is_always_equal::value;
        });

[[noreturn]] void throw_wrong_block();

template <block_value T>
[[nodiscard]] std::span<const std::byte> bytes_of_block(const T& value) noexcept {
  return std::as_bytes(std::span(std::ranges::data(value), std::ranges::size(value)));
}

/// A message that values are written to.
struct call_writer {
  enum class block_use {
    borrow,  ///< values of the caller stay as they are until the message has been received
    own,     ///< they are moved or copied, if they become blocks
  };

  outgoing_message message;
  std::size_t min_block_bytes = rank_messages::no_blocks;
  block_use blocks = block_use::own;

  /// Appends a value; `Sent` is the type that the receiver reads.
  template <class Sent, class A>
  void put(A&& value) {
    if constexpr (!block_value<Sent>) {
      wire<Sent>::put(message.bytes, value);
    } else if constexpr (std::same_as<std::decay_t<A>, Sent>) {
      put_block_value<Sent>(std::forward<A>(value), blocks == block_use::borrow);
    } else {
      put_converted<Sent>(std::forward<A>(value));
    }
  }

 private:
  template <class Sent>
  void put_converted(Sent value) {
    // A view points into an argument, others are temporary here.
    put_block_value<Sent>(std::move(value), std::ranges::view<Sent> && blocks == block_use::borrow);
  }
  template <class Sent, class A>
  void put_block_value(A&& value, bool borrows) {
    const std::span<const std::byte> bytes = bytes_of_block(value);
    if (bytes.size() < min_block_bytes) {
      return wire<Sent>::put(message.bytes, value);
    }
    put_length(message.bytes, std::ranges::size(value));
    if (borrows) {
      message.blocks.push_back({bytes, nullptr});
    } else if constexpr (std::is_rvalue_reference_v<A&&> && !std::is_const_v<A> &&
                         owns_its_memory<Sent>) {
      const auto owner = std::make_shared<Sent>(std::move(value));
      message.blocks.push_back({bytes_of_block(*owner), owner});
    } else {
      const auto owner = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
      message.blocks.push_back({*owner, owner});
    }
  }
};

/// The sizes of the blocks of a message.
struct block_sizes {
  std::size_t minimum, sum;
};

/// Values whose blocks are received into them.
class arriving_values : public block_target {
 public:
  std::exception_ptr failure;  ///< why they were not made; without blocks then
};

/// The bytes of a message with blocks, while its values are made.
class block_value_reader {
 public:
  block_value_reader(byte_reader& from, const block_sizes& sizes) noexcept
      : from_(&from), minimum_(sizes.minimum), left_(sizes.sum) {}

  /// Reads a value. Its elements follow as a block if they are long enough.
  template <class T>
  [[nodiscard]] T get() {
    if constexpr (block_value<T>) {
      byte_reader after_length = *from_;
      const std::size_t count = get_length(after_length);
      const std::size_t bytes = count * sizeof(std::ranges::range_value_t<T>);
      if (bytes >= minimum_) {
        *from_ = after_length;
        return make_for_block<T>(count, bytes);
      }
    }
    return wire<T>::get(*from_);
  }
  /// Adds the memory of a value that get() has returned and that has its final address.
  template <class T>
  void add_block(const T& value, std::vector<std::span<std::byte>>& to) const {
    if constexpr (block_value<T>) {
      const std::span<const std::byte> bytes = bytes_of_block(value);
      if (bytes.size() < minimum_) return;
      to.emplace_back(const_cast<std::byte*>(bytes.data()), bytes.size());
    }
  }
  /// The memory that views point to.
  std::vector<std::unique_ptr<std::byte[]>> viewed;

 private:
  template <class T>
  [[nodiscard]] T make_for_block(std::size_t count, std::size_t bytes) {
    if (bytes > left_) throw_wrong_block();
    left_ -= bytes;
    if constexpr (std::same_as<T, std::string_view>) {
      viewed.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
      return {reinterpret_cast<const char*>(viewed.back().get()), count};
    } else if constexpr (std::same_as<T, std::string>) {
      return std::string(count, '\0');
    } else {
      return T(count);
    }
  }

  byte_reader* from_;
  std::size_t minimum_, left_;  ///< bytes of a block, and of those that no value has
};

}  // namespace creek::detail
