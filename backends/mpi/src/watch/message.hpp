// SPDX-License-Identifier: Apache-2.0
// Messages between a rank and its watcher, and between the watchers of two ranks. All processes of
// a run have the same version of creek and the same byte order, so they are structs.
#pragma once

#include <creek/mpi/activity.hpp>

#include <array>
#include <cstdint>

namespace creek::mpi_backend {

struct watch_address {
  std::uint16_t family = 0;  ///< AF_INET, AF_INET6
  std::array<std::uint8_t, 16> bytes{};
};

/// Addresses of the watcher of rank 0, and the number by which it knows its run.
struct watch_invitation {
  static constexpr std::size_t max_addresses = 16;
  std::array<std::uint8_t, 16> token{};
  std::uint16_t port = 0;  ///< 0: nowhere
  std::uint16_t addresses = 0;
  std::array<watch_address, max_addresses> address{};
  std::array<char, 64> host{};
};

enum class watch_kind : std::uint32_t {
  serve,    ///< rank 0 to its watcher: wait for the others; answered by `invited`
  invited,  ///< with the invitation
  join,     ///< rank to its watcher: connect; answered by `joined`, with a socket, or `refused`
  joined,
  refused,
  hello,     ///< watcher to that of rank 0: its connection for messages; answered by `welcome`
  lifeline,  ///< same: the connection that the rank itself holds; answered by `welcome`
  welcome,
  deputy,  ///< to the watcher that writes the line if rank 0 and its watcher are lost
  no_deputy,
  state,   ///< what a rank is doing
  gone,    ///< a rank has ended without a word
  failed,  ///< a rank has an error; answered by `granted` if its watcher writes its line
  granted,
  denied,
  bye,  ///< an orderly end
  end   ///< the run ends: kill your rank
};

struct watch_message {
  watch_kind kind{};
  std::int32_t rank = 0;
  std::int32_t signal = 0;  ///< of `gone`
  std::uint8_t exits = 0;   ///< of `gone`: by exit()
  std::uint8_t by_mpi = 0;  ///< of `failed`: an error of MPI, perhaps since another is gone
  std::uint64_t operation = 0;
  std::array<char, activity::stage_bytes> stage{};
  std::array<char, 64> host{};
  std::array<std::uint8_t, 16> token{};
};

/// Between a rank and its watcher.
struct watch_request {
  watch_message message;
  watch_invitation invitation;
  std::array<char, 4096> line{};  ///< of `failed`; ends with 0
};

}  // namespace creek::mpi_backend
