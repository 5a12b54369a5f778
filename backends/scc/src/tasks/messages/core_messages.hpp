// SPDX-License-Identifier: Apache-2.0
// Messages of a task runtime between its workers.
#pragma once

#include <memory>

#include "message_board.hpp"
#include "tasks/idle/idle_workers.hpp"
#include "tasks/pools/pool_bookkeeping.hpp"

namespace creek::scc_backend {

/// The protocol's memory is taken with the first message, by the core that sends it; no core uses
/// it before it is clear. A message counts as pending work until it has been handled. Messages of
/// other threads go through outside_work, and the first core sends them.
class core_messages final : public ext::message_port {
 public:
  core_messages(ext::executor& home, const message_layout& layout, const worker_set& workers,
                schedule_log& log, pool_bookkeeping& books, outside_work& outside,
                pending_work& pending, idle_workers& idle) noexcept
      : home_(home),
        layout_(layout),
        workers_(workers),
        log_(log),
        books_(books),
        outside_(outside),
        pending_(pending),
        idle_(idle) {}

  void send(unsigned to, const void* message, std::size_t bytes) override;
  void prepare() override;
  void yield() noexcept override;
  void answer(ext::reply& to, ext::tell_function tell, std::size_t bytes) noexcept override;

  /// Handles the messages that have arrived; returns false if there were none. Call it in the
  /// worker's loop.
  bool serve(task_worker& worker);

 private:
  void open_board(task_worker& worker);
  static void learn_of_board(task_worker& worker);
  void handle(task_worker& worker, std::byte* message, std::size_t bytes);

  ext::executor& home_;
  message_layout layout_;
  const worker_set& workers_;
  schedule_log& log_;
  pool_bookkeeping& books_;
  outside_work& outside_;
  pending_work& pending_;
  idle_workers& idle_;
  std::unique_ptr<message_board> board_;  ///< null until the first message
  bool board_is_clear_ = false;
};

}  // namespace creek::scc_backend
