// SPDX-License-Identifier: Apache-2.0
// The functions of a program that other ranks can call. Each is registered by its name before
// main(), so that all ranks that run the same program number them alike, wherever the system has
// loaded it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <typeinfo>
#include <vector>

#include <creek/core/messages/wire.hpp>

namespace creek {

class object_space;

namespace detail {

/// A function that other ranks can call, in static memory.
struct rank_function {
  /// Reads the arguments, calls the function, and appends the bytes of what it returns.
  using body = void (*)(object_space& space, void* object, byte_reader& arguments,
                        std::vector<std::byte>& result);
  using failure_handler = void (*)(void* object, std::exception_ptr failure);

  /// Registers it. `its_object`: the type of the object that it is called on, or null.
  rank_function(const std::type_info& its_name, const std::type_info* its_object, body its_body,
                failure_handler on_failure = nullptr) noexcept;
  rank_function(const rank_function&) = delete;
  rank_function& operator=(const rank_function&) = delete;

  const char* name;  ///< mangled
  const std::type_info* object;
  body run;
  failure_handler on_post_failure;
  std::uint32_t number = 0;  ///< in the table
  rank_function* next;       ///< registered before this one
};

/// Returns all functions that were registered before the first call, in the order of their names.
/// Throws usage_error if two have the same name, as functions of two unnamed namespaces may.
const std::vector<const rank_function*>& function_table();

/// Returns a number that is the same in processes that run the same program: a hash of the names of
/// the functions, and of the build id that the linker gave the program, if it did.
std::uint64_t program_fingerprint();

}  // namespace detail
}  // namespace creek
