// SPDX-License-Identifier: Apache-2.0
#include "invocations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/core/messages/flagged_slot.hpp>
#include <creek/core/messages/linked_messages.hpp>
#include <creek/core/messages/notification_vector.hpp>
#include <creek/core/messages/pair_ring.hpp>
#include <creek/core/messages/synchronized_ring.hpp>
#include <creek/core/protocols/dissemination_barrier.hpp>
#include <creek/scc.hpp>
#include <creek/scc/interrupts.hpp>
#include <creek/tasking.hpp>

#include "runtime_on_chip.hpp"

namespace creek::tool {
namespace {

using scc_backend::memory;

constexpr int timed_rounds = 16;
constexpr int timed_trips = 64;  ///< trips in each mean

// --- By the protocol alone ----------------------------------------------------------------------

template <class Protocol>
using bare_body = std::function<void(Protocol&, memory&)>;

/// Calls `body(protocol, memory)` on the cores that take part, after a barrier.
template <class Protocol>
scc_backend::run_report run_bare(const invocation_setup& on, const bare_body<Protocol>& body) {
  const std::size_t place =
      whole_lines<memory>(dissemination_barrier<memory>::bytes_needed(on.cores));
  const std::size_t mpb = on.machine.description.mpb_bytes;
  if (place + Protocol::bytes_needed(on.cores) > mpb) {
    throw usage_error(
        fmt::format("scc-invoke: chip '{}': no message-passing memory for protocol {} of {} cores; "
                    "take fewer cores, or choose --protocol",
                    on.machine.description.name, to_string(on.protocol), on.cores));
  }
  std::vector<core_id> members;
  for (int i = 0; i < on.cores; ++i) members.push_back(core_id{i});
  return scc_backend::run_cores(on.machine, [&](memory& m) {
    if (m.self().value >= on.cores) return;
    const team all(members, m.self());
    dissemination_barrier<memory> barrier(m, all, 0);
    Protocol protocol = make_in_room<Protocol>(m, all, place, mpb - place);
    barrier.wait();
    body(protocol, m);
  });
}

/// Calls `use` with the protocol's type as a template argument.
template <class Use>
auto with_protocol(message_protocol chosen, Use use) {
  switch (chosen) {
    case message_protocol::notification_vector:
      return use.template operator()<notification_vector<memory>>();
    case message_protocol::flagged_slot:
      return use.template operator()<flagged_slot<memory>>();
    case message_protocol::linked_messages:
      return use.template operator()<linked_messages<memory>>();
    case message_protocol::pair_ring:
      return use.template operator()<pair_ring<memory>>();
    case message_protocol::synchronized_ring:
      break;
  }
  return use.template operator()<synchronized_ring<memory>>();
}

/// A message that holds its number.
struct numbered_message {
  explicit numbered_message(int number) { std::memcpy(data, &number, sizeof number); }
  std::byte data[active_message_bytes] = {};
};

/// Receives messages from one core, which must arrive in order and complete.
struct expected {
  int from;
  std::size_t bytes;
  int next = 0;
  void operator()(int sender, const std::byte* data, std::size_t length) {
    int number = 0;
    std::memcpy(&number, data, sizeof number);
    require(sender == from && length == bytes && number == next++, "a wrong message came");
  }
};

/// Waits by halting: each message is followed by an interrupt.
template <class Protocol>
class halting_end {
 public:
  explicit halting_end(Protocol& by) : by_(by) {
    scc_backend::interrupt_pins(by_.memory()).set_handler([rung = rung_](int) { *rung = true; });
  }
  template <class Handler>
  void send_to(int to, const std::byte* data, std::size_t bytes, Handler& take) {
    send(by_, to, data, bytes, take);
    scc_backend::interrupt_pins(by_.memory()).raise(core_id{to});
  }
  template <class Handler>
  void take_one(Handler& take) {
    for (;;) {
      *rung_ = false;
      if (by_.poll(take) > 0) return;
      while (!*rung_) scc_backend::interrupt_pins(by_.memory()).halt();
    }
  }

 private:
  Protocol& by_;
  std::shared_ptr<bool> rung_ = std::make_shared<bool>(false);  // the last interrupt may come late
};

template <class Protocol>
class polling_end {
 public:
  explicit polling_end(Protocol& by) : by_(by) {}
  template <class Handler>
  void send_to(int to, const std::byte* data, std::size_t bytes, Handler& take) {
    send(by_, to, data, bytes, take);
  }
  template <class Handler>
  void take_one(Handler& take) {
    receive(by_, take);
  }

 private:
  Protocol& by_;
};

/// Spacing of round trips: at once, so that messages arrive at the same point of a search for them
/// each time, or after varying pauses, which are not counted.
enum class spacing { none, spread };

cycles space_before(int round, spacing how) {
  return cycles{how == spacing::spread ? round * 53 % 211 : 0};
}

/// Round trips between core 0 and core `far`, after one that warms up; the two cores share this.
struct round_trips {
  int far = 1;
  int count = timed_trips;
  spacing how = spacing::none;
  message_lengths lengths = {};
  virtual_time begun = {};    ///< when core 0 began to send its last message
  virtual_time one_way = {};  ///< sum of the times until the handlers at `far` began
};

/// Makes the round trips; returns their mean costs on core 0.
template <class End, class Protocol>
bare_costs ping_pong(Protocol& p, memory& m, round_trips& trips) {
  End end(p);
  const auto [there, back] = trips.lengths;
  const bool asks = m.self().value == 0;
  expected right{asks ? trips.far : 0, asks ? back : there};
  virtual_time there_and_back, sending, came;
  const auto take = [&](int from, const std::byte* data, std::size_t bytes) {
    came = m.now();
    right(from, data, bytes);
  };
  for (int i = 0; i <= trips.count; ++i) {
    const numbered_message message(i);
    if (asks) {
      m.charge(space_before(i, trips.how));
      const virtual_time begun = trips.begun = m.now();
      end.send_to(trips.far, message.data, there, take);
      if (i > 0) sending += m.now() - begun;
      end.take_one(take);
      if (i > 0) there_and_back += m.now() - begun;
    } else {
      end.take_one(take);
      if (i > 0) trips.one_way += came - trips.begun;
      end.send_to(0, message.data, back, take);
    }
  }
  bare_costs found{.round_trip_s = seconds(there_and_back) / trips.count,
                   .one_way_s = seconds(trips.one_way) / trips.count,
                   .send_s = seconds(sending) / trips.count};
  require(right.next == trips.count + 1, "messages are missing");
  if (!asks) return found;
  const virtual_time begun = m.now();
  for (int i = 0; i < timed_rounds; ++i) require(p.poll(take) == 0, "a message came twice");
  found.poll_s = seconds(m.now() - begun) / timed_rounds;
  return found;
}

}  // namespace

bare_costs measure_bare(const invocation_setup& on, core_id far, message_lengths lengths) {
  return with_protocol(on.protocol, [&]<class Protocol>() {
    bare_costs found;
    round_trips trips{.far = far.value, .how = spacing::spread, .lengths = lengths};
    run_bare<Protocol>(on, [&](Protocol& p, memory& m) {
      if (m.self() != core_id{0} && m.self() != far) return;
      const bare_costs mine = ping_pong<polling_end<Protocol>>(p, m, trips);
      if (m.self() == core_id{0}) found = mine;
    });
    return found;
  });
}

double measure_senders(const invocation_setup& on, int senders) {
  return with_protocol(on.protocol, [&]<class Protocol>() {
    virtual_time took;
    run_bare<Protocol>(on, [&](Protocol& p, memory& m) {
      const int self = m.self().value;
      if (self > senders) return;
      if (self > 0) {
        expected nothing{-1, 0};
        for (int i = 0; i < timed_rounds; ++i) {
          send(p, 0, numbered_message(i).data, invocation_bytes, nothing);
        }
        return;
      }
      const virtual_time begun = m.now();
      std::vector<expected> of_each;
      for (int i = 0; i < on.cores; ++i) of_each.push_back({i, invocation_bytes});
      const auto take = [&](int from, const std::byte* data, std::size_t bytes) {
        of_each[static_cast<std::size_t>(from)](from, data, bytes);
      };
      for (std::size_t left = static_cast<std::size_t>(senders) * timed_rounds; left > 0;) {
        left -= receive(p, take);
      }
      took = m.now() - begun;
      for (int i = 1; i <= senders; ++i) {
        require(of_each[static_cast<std::size_t>(i)].next == timed_rounds, "messages are missing");
      }
    });
    return seconds(took) / (senders * timed_rounds);
  });
}

// --- In a runtime -------------------------------------------------------------------------------

namespace {

/// Object that is called; counting costs no virtual time.
struct counted {
  int calls = 0;
  void nothing() { ++calls; }
};

/// Returns the mean seconds per call over `count` calls, after one that warms up.
double call_seconds(core_id far, int count, spacing how) {
  const remote<counted> there = make_on<counted>(far);
  there.call(&counted::nothing);
  virtual_time took;
  for (int i = 1; i <= count; ++i) {
    charge(space_before(i, how));
    const virtual_time begun = now();
    there.call(&counted::nothing);
    took += now() - begun;
  }
  require(there.call([](counted& c) { return c.calls; }) == count + 1, "calls are missing");
  return seconds(took) / count;
}

/// A place in a ring. The last token to finish its way reports it.
struct place_in_ring {
  remote<place_in_ring> next;
  int* tokens_left = nullptr;
  promise<void>* all_done = nullptr;
  int passed = 0;
  void pass(int left) {
    ++passed;
    if (left > 1) {
      next.post(&place_in_ring::pass, left - 1);
    } else if (--*tokens_left == 0) {
      all_done->set_value();
    }
  }
};

}  // namespace

double measure_call(const invocation_setup& on, core_id far) {
  double took = 0;
  run_tasks(on, idle_policy::poll, [&] { took = call_seconds(far, timed_trips, spacing::spread); });
  return took;
}

double measure_step(const invocation_setup& on, group_shape shape) {
  double took = 0;
  run_tasks(on, idle_policy::poll, [&] {
    const group<counted> all = make_group<counted>(shape);
    all.step(&counted::nothing);
    const virtual_time begun = now();
    for (int i = 0; i < timed_rounds; ++i) all.step(&counted::nothing);
    took = seconds(now() - begun) / timed_rounds;
    for (const counted& each : all.gather()) {
      require(each.calls == timed_rounds + 1, "a step missed a member");
    }
  });
  return took;
}

double measure_ring(const invocation_setup& on, int tokens) {
  double took = 0;
  run_tasks(on, idle_policy::poll, [&] {
    const group<place_in_ring> ring = [&] {
      std::vector<core_id> cores;
      for (int i = 0; i < on.cores; ++i) cores.push_back(core_id{i});
      return make_group<place_in_ring>(cores);
    }();
    int left = tokens;
    promise<void> all_done;
    future<void> done = all_done.get_future();
    for (int i = 0; i < on.cores; ++i) {
      ring[i].call(
          [](place_in_ring& p, const remote<place_in_ring>& next, int* tokens_left,
             promise<void>* told) {
            p.next = next;
            p.tokens_left = tokens_left;
            p.all_done = told;
          },
          ring[(i + 1) % on.cores], &left, &all_done);
    }
    const int way = timed_rounds * on.cores;
    const virtual_time begun = now();
    for (int i = 0; i < tokens; ++i) ring[i].post(&place_in_ring::pass, way);
    done.get();
    took = seconds(now() - begun) / way;
    for (int i = 0; i < on.cores; ++i) {
      const int passed = ring[i].call([](place_in_ring& p) {
        p.next = {};
        return p.passed;
      });
      require(passed == tokens * timed_rounds, "a token was lost");
    }
  });
  return took;
}

// --- Energy -------------------------------------------------------------------------------------

namespace {

/// Returns the time and energy per additional round trip: beginning and end cancel out.
template <class Measure>
round_trip_energy marginal(Measure measure) {
  const auto [few_s, few, few_both] = measure(timed_rounds);
  const auto [many_s, many, many_both] = measure(3 * timed_rounds);
  const double added = 2 * timed_rounds;
  round_trip_energy found{(3 * many_s - few_s) / 2, units::joules{(many - few).value / added}, {}};
  if (few_both) found.both = units::joules{(*many_both - *few_both).value / added};
  return found;
}

}  // namespace

round_trip_energy measure_bare_energy(const invocation_setup& on, waiting how) {
  invocation_setup two = on;
  two.cores = 2;
  return with_protocol(on.protocol, [&]<class Protocol>() {
    return marginal([&](int count) {
      double took = 0;
      round_trips trips{.count = count};
      const auto report = run_bare<Protocol>(two, [&](Protocol& p, memory& m) {
        const bare_costs mine = how == waiting::halted
                                    ? ping_pong<halting_end<Protocol>>(p, m, trips)
                                    : ping_pong<polling_end<Protocol>>(p, m, trips);
        if (m.self() == core_id{0}) took = mine.round_trip_s;
      });
      const auto& cores = report.usage.cores;
      return round_trip_energy{took, report.usage.total, cores[0].energy + cores[1].energy};
    });
  });
}

round_trip_energy measure_call_energy(const invocation_setup& on, idle_policy idle) {
  invocation_setup two = on;
  two.cores = 2;
  return marginal([&](int count) {
    double took = 0;
    const auto report =
        run_tasks(two, idle, [&] { took = call_seconds(core_id{1}, count, spacing::none); });
    return round_trip_energy{took, report.energy, {}};
  });
}

}  // namespace creek::tool
