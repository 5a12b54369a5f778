// SPDX-License-Identifier: Apache-2.0
// Networks of processes and channels. A process is a function or an object that reads its inputs
// and writes its outputs; what it writes depends on what it reads alone, so the streams are the
// same for any number of workers and any capacities. Source: [Kahn 1974]; a channel that turns out
// to be too small grows as in [Parks 1995]. docs/streams.md is the guide.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/stream/detail/process.hpp>
#include <creek/stream/port.hpp>
#include <creek/stream/report.hpp>

namespace creek::stream {

/// An exception that left a process: its name, and what the exception said. cause() is the
/// exception itself.
class process_error : public std::runtime_error {
 public:
  process_error(const std::string& process, std::exception_ptr cause);
  [[nodiscard]] const std::string& process() const noexcept { return process_; }
  [[nodiscard]] std::exception_ptr cause() const noexcept { return cause_; }

 private:
  std::string process_;
  std::exception_ptr cause_;
};

/// Processes that wait for each other for ever; what() names them and their channels.
class deadlock_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct network_options {
  std::size_t capacity = 256;  ///< of a channel for which none is given, in items
  /// Limit to which a channel grows if processes wait for each other and one of them for room.
  std::size_t max_capacity = std::size_t{1} << 20;
  bool measure = false;  ///< times for report(): some 30 ns a wait
  /// Gets a track for each process and a graph of the items in each channel, at its waits.
  /// Measures, too. It outlives the run. Not used on a backend with virtual time, which has its
  /// own.
  trace::session* trace = nullptr;
};

/// Both ends of a new channel, for the process that writes it and the one that reads it.
template <class T>
struct channel_ends {
  out<T> writer;
  in<T> reader;
};

namespace detail {
template <class Port>
inline constexpr bool is_input = false;
template <class T>
inline constexpr bool is_input<in<T>> = true;
template <class Port>
inline constexpr bool is_output = false;
template <class T>
inline constexpr bool is_output<out<T>> = true;
template <class Port>
concept any_port = is_input<Port> || is_output<Port>;

template <class Body, class... Ports>
concept has_fire = requires(Body& body, Ports&... ports) {
  body.fire(ports...);
};

/// A process with its ports and what it runs.
template <class Body, class... Ports>
class process_of final : public process {
 public:
  template <class F>
  process_of(network_state& network, std::string name, F&& body, Ports&&... ports)
      : process(network, std::move(name)),
        body_(std::forward<F>(body)),
        ports_(std::move(ports)...) {
    inputs_.reserve(sizeof...(Ports));
    outputs_.reserve(sizeof...(Ports));
    std::apply([this](auto&... each) { (this->add(each), ...); }, ports_);
  }

 private:
  template <class Port>
  void add(Port& one) {
    (is_input<Port> ? inputs_ : outputs_).push_back(one.belong_to(*this));
  }
  void run_body() override {
    std::unwrap_reference_t<Body>& body = body_;
    std::apply(
        [&](auto&... ports) {
          if constexpr (has_fire<std::unwrap_reference_t<Body>, Ports...>) {
            fire(body, ports...);
          } else {
            std::invoke(body, ports...);
          }
        },
        ports_);
  }
  template <class Object, class... P>
  static void fire(Object& object, P&... ports) {
    if constexpr (requires { object.init(ports...); }) object.init(ports...);
    if constexpr (std::is_void_v<decltype(object.fire(ports...))>) {
      static_assert((is_input<P> || ...),
                    "fire() of a process without inputs must return bool: whether it goes on");
      while ((has_items(ports) || ...)) object.fire(ports...);
    } else {
      while (object.fire(ports...)) {
      }
    }
    if constexpr (requires { object.finish(ports...); }) object.finish(ports...);
  }
  template <class Port>
  static bool has_items(Port& one) {
    if constexpr (is_input<Port>) {
      return one.is_open() && !one.at_end();
    } else {
      return false;
    }
  }
  void close_ports() noexcept override {
    std::apply([](auto&... each) { (each.close(), ...); }, ports_);
  }

  Body body_;
  std::tuple<Ports...> ports_;
};

class pipeline_builder;

struct state_deleter {
  void operator()(network_state* state) const noexcept;
};
}  // namespace detail

/// A network that is built, then run once.
class network {
 public:
  /// Throws usage_error if a capacity is 0, or more than 2^29.
  explicit network(network_options options = {});

  /// Makes a channel. Throws usage_error unless the capacity is between 1 and 2^29. An item must be
  /// movable; its move constructor and destructor must not use the channel.
  template <class T>
  [[nodiscard]] channel_ends<T> make_channel(std::size_t capacity) {
    static_assert(std::move_constructible<T> && std::is_nothrow_destructible_v<T>,
                  "an item of a channel must be movable, and its destructor must not throw");
    require_capacity(capacity);
    auto owner = std::make_unique<detail::channel<T>>(*state_, new_channel_number(), type_name<T>(),
                                                      capacity);
    detail::channel<T>& channel = *owner;
    add(std::move(owner));
    return {out<T>(channel), in<T>(channel)};
  }
  template <class T>
  [[nodiscard]] channel_ends<T> make_channel() {
    return make_channel<T>(options_.capacity);
  }

  /// Adds a process with these ports: a function, which is called once with all of them, or an
  /// object. An object's fire(ports...) is called again and again: as long as it returns true, or,
  /// if it returns nothing, until all inputs are at their ends, for which it waits for an item of
  /// one of them before each call. init(ports...) is called before and
  /// finish(ports...) after that, if the object has them. `std::ref(object)` uses an object of the
  /// caller. Returns the number of the process, from 0 on. Throws usage_error if a port is not the
  /// end of a channel of this network.
  template <class Body, detail::any_port... Ports>
  std::size_t add(std::string name, Body&& body, Ports... ports) {
    static_assert(
        detail::has_fire<std::unwrap_ref_decay_t<Body>, Ports...> ||
            std::invocable<std::unwrap_ref_decay_t<Body>&, Ports&...>,
        "a process is called with its ports, or has a member fire() that is: take in<T>& and "
        "out<T>&");
    std::size_t number = 0;
    (require_own(ports.channel_, name, ++number), ...);
    expect_process();
    using process = detail::process_of<std::decay_t<Body>, Ports...>;
    return add(std::make_unique<process>(*state_, std::move(name), std::forward<Body>(body),
                                         std::move(ports)...));
  }

  /// Has a process, by its number, run on this worker of the runtime, where it stays (on tbb it may
  /// run anywhere). Without that a process runs wherever it is taken up; where workers share no
  /// memory, as on the simulated chip, neighbours in the order of add() get the same worker or the
  /// next one. Throws usage_error if there is no such process, or the network has run; run() does
  /// if there is no such worker.
  void place(std::size_t process, unsigned worker);

  /// Runs all processes as tasks of the calling strand's runtime and returns when they have ended.
  /// Throws process_error for the first exception that leaves a process, deadlock_error if
  /// processes wait for each other for ever, cancelled after a stop request: all other processes
  /// end then, where they next read or write. Throws usage_error outside a runtime, if an end of a
  /// channel was given to no process, and if it is called again. An exception that a channel throws
  /// when it grows comes as it is.
  void run(std::stop_token stop = {});

  /// Returns the capacity of a channel, in items, by the order in which they were made; larger than
  /// at first if it had to grow.
  [[nodiscard]] std::size_t capacity(std::size_t channel) const;
  /// Returns whether run() has begun.
  [[nodiscard]] bool has_run() const noexcept { return has_run_; }
  /// Returns the figures of the run. After run(), which may have thrown. Times are 0 unless
  /// network_options::measure is set; they are virtual on a backend with virtual time.
  [[nodiscard]] network_report report() const;

 private:
  friend class detail::pipeline_builder;

  /// Has a process share the worker of the one before it, where workers share no memory.
  void join_previous(std::size_t process) noexcept;
  template <class T>
  [[nodiscard]] static std::string type_name() {
    if constexpr (requires { T::item_name; }) {
      return T::item_name;
    } else {
      return readable_type(__PRETTY_FUNCTION__);
    }
  }
  [[nodiscard]] static std::string readable_type(std::string_view function);
  static void require_capacity(std::size_t capacity);
  /// These throw usage_error once the network has run.
  void require_not_run() const;
  [[nodiscard]] std::size_t new_channel_number() const;
  void expect_process();
  void require_own(const detail::channel_base* channel, const std::string& process,
                   std::size_t port) const;
  void add(std::unique_ptr<detail::channel_base> channel);
  std::size_t add(std::unique_ptr<detail::process> process);

  network_options options_;
  bool has_run_ = false;
  std::unique_ptr<detail::network_state, detail::state_deleter> state_;
};

}  // namespace creek::stream
