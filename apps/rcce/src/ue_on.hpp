// SPDX-License-Identifier: Apache-2.0
// A UE on the memory of one backend: creek's protocols, instantiated for it.
#pragma once

#include <utility>

#include <creek/core/protocols/dissemination_barrier.hpp>
#include <creek/core/protocols/gather_release_barrier.hpp>
#include <creek/core/protocols/test_and_set_barrier.hpp>

#include "ue.hpp"

namespace creek::rcce {

template <memory_policy Memory>
class ue_on : public ue {
 public:
  ue_on(Memory& memory, team members, const setting& given)
      : ue_on(memory, std::move(members), given,
              lay_out(memory.mpm_bytes(), given.count, given.style, given.chosen.buffer_bytes)) {}

  // Detaches the observer: blocks that the program did not free are not reported as freed.
  ~ue_on() override { allocator.observe(nullptr); }

  std::byte* mpb() override { return at(rank, 0).address(); }
  std::size_t mpb_bytes() override { return memory_.mpm_bytes(); }

  void put(int to, std::size_t offset, const void* from, std::size_t bytes) override {
    memory_.write(at(to, offset), from, bytes);
    memory_.flush();
  }
  void get(void* to, int from, std::size_t offset, std::size_t bytes) override {
    memory_.invalidate();
    memory_.read(to, at(from, offset), bytes);
  }
  word load(int of, std::size_t offset) override { return memory_.load(word_at(of, offset)); }
  void signal(int of, std::size_t offset, word value) override {
    memory_.signal(word_at(of, offset), value);
  }
  void wait_until(std::size_t offset, word mask, bool set) override {
    memory_.wait_until(word_at(rank, offset),
                       [=](word seen) { return (seen & mask) == (set ? mask : 0); });
  }
  void fence() override { memory_.flush(); }
  void lock(int of) override { lock_of(of).lock(); }
  void unlock(int of) override { lock_of(of).unlock(); }

  void begin_send(message_request& request) override { messages_.begin_send(request); }
  void begin_receive(message_request& request) override { messages_.begin_receive(request); }
  void wait(message_request& request) override { messages_.wait(request); }
  void wait_for(const std::function<bool()>& done) override {
    memory_.wait_poll([&] {
      messages_.push();
      return done();
    });
  }
  void push() override { messages_.push(); }
  bool arrived(int from) override { return messages_.arrived(from); }
  bool sending() override { return messages_.sending(); }
  bool receiving() override { return messages_.receiving(); }
  bool is_first(const message_request& request) override { return messages_.is_first(request); }
  bool cancel(message_request& request) override { return messages_.cancel(request); }

  std::unique_ptr<comm_barrier> make_barrier(const std::vector<int>& ranks,
                                             std::size_t offset) override {
    std::vector<core_id> cores;
    for (const int member : ranks) cores.push_back(members_.core(member));
    const team those(std::move(cores), memory_.self());
    // Registers can only serve one barrier at a time: the barrier of all UEs.
    const bool by_registers = chosen.barrier == barrier_kind::test_and_set;
    if (by_registers && those.size() == count) return make(test_and_set_barrier(memory_, those));
    switch (chosen.barrier) {
      case barrier_kind::dissemination:
        return make(dissemination_barrier(memory_, those, offset));
      default:
        return make(gather_release_barrier(memory_, those, offset));
    }
  }

 protected:
  Memory& memory() noexcept { return memory_; }

 private:
  template <class Barrier>
  class barrier_of : public comm_barrier {
   public:
    explicit barrier_of(Barrier barrier) : barrier_{std::move(barrier)} {}
    void wait() override { barrier_.wait(); }

   private:
    Barrier barrier_;
  };
  template <class Barrier>
  static std::unique_ptr<comm_barrier> make(Barrier barrier) {
    return std::make_unique<barrier_of<Barrier>>(std::move(barrier));
  }

  ue_on(Memory& memory, team members, const setting& given, const mpb_layout& where)
      : ue(given, where, memory.mpm_bytes()),
        memory_{memory},
        members_{std::move(members)},
        messages_{memory_, members_, {0, sizeof(word), where.buffer, where.buffer_bytes}} {
    if constexpr (requires { memory.allocations(); }) allocator.observe(memory.allocations());
  }

  [[nodiscard]] mpm_ptr<std::byte> at(int of, std::size_t offset) const {
    return memory_.at(members_.core(of), offset);
  }
  [[nodiscard]] mpm_ptr<word> word_at(int of, std::size_t offset) const {
    return at(of, offset).template as<word>();
  }
  [[nodiscard]] test_and_set_lock<Memory> lock_of(int of) {
    return {memory_, members_.core(of), chosen.retry};
  }

  Memory memory_;
  team members_;
  rendezvous<Memory> messages_;
};

}  // namespace creek::rcce
