// SPDX-License-Identifier: Apache-2.0
// The objects of one rank that other ranks call, by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <typeinfo>
#include <vector>

#include <creek/core/language.hpp>
#include <creek/core/objects/call_signature.hpp>
#include <creek/core/objects/deferred_call.hpp>

namespace creek::detail {

/// Owns the objects. Used by one thread. The number of an object is its slot and how often that was
/// used before, so a number is never used again.
class object_table {
 public:
  /// An object that is in no table any more, and the port of its worker.
  struct removed_object {
    new_object object{};
    std::unique_ptr<call_port> port{};
    void destroy_now() noexcept { object.destroy_now(); }
  };

  object_table() = default;
  object_table(const object_table&) = delete;
  object_table& operator=(const object_table&) = delete;
  ~object_table() { clear(); }

  /// Returns its number. `port`: that runs its calls, or null for the thread of this table.
  std::uint64_t add(const new_object& added, std::unique_ptr<call_port> port = nullptr);
  /// Destroys an object, at the end of the calls that use it. Throws usage_error if there is none.
  void remove(std::uint64_t number);
  /// Returns the port of an object, or null. Throws usage_error if there is no object.
  [[nodiscard]] call_port* port_of(std::uint64_t number) const {
    return slots_[slot_of(number)].port.get();
  }
  /// Takes an object with a port out of the table.
  [[nodiscard]] removed_object take(std::uint64_t number);
  /// Takes all objects with ports out of the table, in the order of their numbers.
  [[nodiscard]] std::vector<removed_object> take_all_with_ports();
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
    new_object held{};
    std::unique_ptr<call_port> port{};
    std::uint32_t version = 0;
    std::uint32_t calls = 0;  ///< that use the object
    bool is_removed = false;
  };

  std::size_t slot_of(std::uint64_t number) const;
  removed_object take_from(std::size_t at) noexcept;

  std::vector<slot> slots_;
  std::vector<std::size_t> free_;
};

}  // namespace creek::detail
