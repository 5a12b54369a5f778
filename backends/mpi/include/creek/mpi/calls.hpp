// SPDX-License-Identifier: Apache-2.0
// The calls of MPI that creek makes, as a table: programs need neither MPI's headers nor its
// libraries, and one library of creek serves every implementation. The table of an implementation
// is in a module of its own (src/module.cpp), which is loaded when it is needed.
#pragma once

#include <cstddef>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek::mpi_backend {

/// Memory for an implementation's request, which is a number or an address.
struct request_handle {
  alignas(8) std::byte memory[8]{};
};

/// Kinds of messages between two ranks, which do not overtake others of their kind.
enum class message_kind : int {
  sent = 1,
  posted = 2,
  from_any = 3,  ///< to a receive from any rank
  rest = 4,      ///< what does not fit into such a message
};

/// The sender of a receive from any rank.
inline constexpr int any_rank = -1;

/// Functions return 0 or the code of an error. Communicators are addresses that this table made.
struct calls {
  /// Grows with each change of this table.
  static constexpr std::uint32_t current = 4;
  std::uint32_t layout = current;

  /// Writes the implementation's name and version, with a zero byte at the end.
  void (*describe)(char* to, std::size_t room);
  void (*explain)(int code, char* to, std::size_t room);
  /// Returns whether an error says that a message was longer than its receive.
  bool (*is_truncation)(int code);
  void (*processor)(char* to, std::size_t room);

  bool (*is_initialised)();
  bool (*is_finalised)();
  /// For calls by this thread only.
  int (*initialise)(int* argc, char*** argv);
  int (*finalise)();
  /// Ends all processes of the run.
  void (*abort)(int exit_code);

  /// Duplicates the MPI_Comm at an address, or that of all ranks if it is null; every rank calls
  /// it.
  int (*open)(const void* mpi_comm, void** made);
  /// Makes one of the ranks with the same color, in the order of their keys, then of their ranks.
  int (*split)(void* of, int color, int key, void** made);
  void (*close)(void* communicator);
  int (*rank)(void* communicator);
  int (*size)(void* communicator);

  /// Makes one of its ranks on this machine; every rank calls it.
  int (*split_here)(void* of, void** made);

  int (*begin_send)(void* communicator, const void* data, std::size_t bytes, int to,
                    message_kind kind, request_handle* begun);
  int (*begin_receive)(void* communicator, void* data, std::size_t bytes, int from,
                       message_kind kind, request_handle* begun);
  int (*begin_barrier)(void* communicator, request_handle* begun);
  int (*begin_broadcast)(void* communicator, void* data, std::size_t bytes, int root,
                         request_handle* begun);
  /// `received`, `from`: set when a receive is done.
  int (*test)(request_handle* begun, bool* done, std::size_t* received, int* from);
  /// Gives up a request that is not done.
  void (*forget)(request_handle* begun, bool receives);
  /// Looks for a message without taking it.
  int (*look)(void* communicator, int from, message_kind kind, bool* is_there);
};

/// Name under which a module has its table.
inline constexpr const char* calls_name = "creek_mpi_calls";

}  // namespace creek::mpi_backend
