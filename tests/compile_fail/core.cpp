// SPDX-License-Identifier: Apache-2.0
// Memories, messages, power policies and backends that do not satisfy their requirements, and the
// messages that the compiler has to give for them.
#include <creek/core/messages/communicator.hpp>
#include <creek/core/power_policy.hpp>
#include <creek/core/protocols/central_barrier.hpp>
#include <creek/host/memory.hpp>
#include <creek/tasking/ext/backend.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/lock_deque.hpp>

#include <memory>
#include <string>

using host_memory = creek::host_backend::memory;

struct no_memory {};
struct unnamed_policy : creek::power_policy {
  void begin(const creek::power_site&) override {}
  creek::idle_plan worker_idle(unsigned) noexcept override { return {}; }
};
struct throwing_policy : unnamed_policy {
  std::string_view name() const noexcept override { return "throwing"; }
#ifdef POLICY_THAT_MAY_THROW
  // expect: looser exception specification on overriding virtual function .*worker_idle
  creek::idle_plan worker_idle(unsigned) override {
    return {};
  }
#endif
};
struct unfinished_backend : creek::ext::backend_without_task_stacks {};

void program(creek::communicator<host_memory>& ranks, host_memory& memory) {
#ifndef MISTAKE
  creek::central_barrier<host_memory>* barrier = nullptr;
  (void)barrier;
  ranks.send(1, 0);
  (void)ranks.allreduce(1, [](int a, int b) { return a + b; });
  throwing_policy policy;
  (void)memory;
#endif

#ifdef BARRIER_WITHOUT_A_MEMORY
  // expect: template constraint failure for .*memory_policy<Memory>.*central_barrier
  creek::central_barrier<no_memory>* nowhere = nullptr;
#endif
#ifdef COMMUNICATOR_WITHOUT_A_MEMORY
  // expect: template constraint failure for .*memory_policy<Memory>.*communicator
  creek::communicator<int>* nowhere = nullptr;
#endif
#ifdef DEQUE_OF_TASKS_THAT_ARE_OWNED
  // expect: template constraint failure for .*is_trivially_copyable_v<Task>.*lock_deque
  creek::lock_deque<host_memory, std::string>* deque = nullptr;
#endif
#ifdef WORD_OF_SIXTEEN_BYTES
  // expect: no matching function for call to .*load\(
  // because: .*memory_word
  (void)memory.load(creek::mpm_ptr<unsigned __int128>());
#endif
#ifdef SENT_POINTER
  // expect: no matching function for call to .*send\(int\*
  // because: .*message_value
  int value = 1;
  ranks.send(&value, 0);
#endif
#ifdef SENT_TEXT
  // expect: no matching function for call to .*post\(std::string
  // because: .*message_value
  ranks.post(std::string(), 0);
#endif
#ifdef REDUCED_TEXT
  // expect: ranks reduce values that are sent by their bytes: T must be trivially copyable
  (void)ranks.reduce(
      std::string(), [](std::string a, std::string b) { return a + b; }, 0);
#endif
#ifdef REDUCED_BY_NOTHING
  // expect: op\(a, b\) of a reduction must accept two values and return one
  (void)ranks.allreduce(1, [](int, int) {});
#endif
#ifdef MOVED_WHAT_CANNOT_BE_MOVED
  // expect: no matching function for call to .*send_moved\(const std::string
  // because: .*is_nothrow_move_constructible_v|.*movable_here
  const std::string text;
  ranks.send_moved(text, 0);
#endif
#ifdef POLICY_WITHOUT_A_NAME
  // expect: cannot declare variable .policy. to be of abstract type .unnamed_policy
  // because: .*name\(\) const
  unnamed_policy policy;
#endif
#ifdef BACKEND_WITHOUT_ITS_FUNCTIONS
  // expect: abstract class type .unfinished_backend
  // because: .*shut_down\(\)
  (void)new unfinished_backend;
#endif
#ifdef SUSPENSION_WITHOUT_A_FUNCTION
  // expect: invalid user-defined conversion from .* to .creek::ext::publish_fn
  creek::ext::suspend_here([](int) {}, nullptr, "nothing");
#endif
}
