// SPDX-License-Identifier: Apache-2.0
// The objects of one rank that other ranks call, by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <typeinfo>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::detail {

/// Owns the objects. Used by one thread. The number of an object is its slot and how often that was
/// used before, so a number is never used again.
class object_table {
 public:
  using destroy_function = void (*)(void*) noexcept;

  object_table() = default;
  object_table(const object_table&) = delete;
  object_table& operator=(const object_table&) = delete;
  ~object_table() { clear(); }

  std::uint64_t add(void* object, const std::type_info& type, destroy_function end);
  /// Destroys an object, at the end of the calls that use it. Throws usage_error if there is none.
  void remove(std::uint64_t number);
  /// Destroys all objects, in the order of their numbers.
  void clear() noexcept;

  /// One call of an object, which stays alive meanwhile. Throws usage_error if there is no object
  /// of this number and type.
  class use {
   public:
    use(object_table& table, std::uint64_t number, const std::type_info& type);
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use();
    [[nodiscard]] void* object() const noexcept { return object_; }

   private:
    object_table& table_;
    std::size_t slot_;
    void* object_;
  };

 private:
  struct slot {
    void* object = nullptr;
    const std::type_info* type = nullptr;
    destroy_function destroy = nullptr;
    std::uint32_t version = 0;
    std::uint32_t calls = 0;  ///< that use the object
    bool is_removed = false;
  };

  std::size_t slot_of(std::uint64_t number) const;
  void destroy(std::size_t at) noexcept;

  std::vector<slot> slots_;
  std::vector<std::size_t> free_;
};

}  // namespace creek::detail
