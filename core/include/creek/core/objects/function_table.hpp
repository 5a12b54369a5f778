// SPDX-License-Identifier: Apache-2.0
// The functions of a program that other ranks can call. Each is registered by its name before
// main(), so that all ranks that run the same program number them alike, wherever the system has
// loaded it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <typeinfo>
#include <vector>

#include <creek/core/messages/wire.hpp>
#include <creek/core/objects/call_blocks.hpp>

namespace creek {

class object_space;

namespace detail {

/// A function that other ranks can call, in static memory.
struct rank_function {
  /// Reads the arguments, calls the function, and appends the bytes of what it returns.
  using body = void (*)(object_space& space, void* object, byte_reader& arguments,
                        call_writer& result);
  /// The same in two steps, for arguments with blocks: makes the arguments, with memory for the
  /// blocks; calls the function when these have arrived. Null if no parameter can be a block.
  struct block_form {
    std::unique_ptr<arriving_values> (*prepare)(byte_reader& arguments, const block_sizes& sizes);
    void (*run)(object_space& space, void* object, arriving_values& arguments, call_writer& result);
  };
  using failure_handler = void (*)(void* object, std::exception_ptr failure);

  /// Registers it. `its_object`: the type of the object that it is called on, or null.
  rank_function(const std::type_info& its_name, const std::type_info* its_object, body its_body,
                block_form its_block_form = block_form{},
                failure_handler on_failure = nullptr) noexcept;
  rank_function(const rank_function&) = delete;
  rank_function& operator=(const rank_function&) = delete;

  const char* name;  ///< mangled
  const std::type_info* object;
  body run;
  block_form in_blocks;
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
