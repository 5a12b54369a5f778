// SPDX-License-Identifier: Apache-2.0
// Pipelines: a source, stages and a sink, each at work on another item. Items keep their order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/stream/detail/parallel_stage.hpp>
#include <creek/stream/network.hpp>
#include <creek/stream/pipeline_error.hpp>

namespace creek {

struct pipeline_options {
  std::size_t capacity = 64;  ///< items that may wait between two stages
  std::stop_token stop{};
  stream::network_report* report = nullptr;  ///< gets the figures of the run, at its end
  trace::session* trace = nullptr;           ///< as network_options::trace
};

/// A stage that works on several items at once: see parallel_stage().
template <class F>
struct parallel_stage_of {
  F function;
  std::size_t max_items;
};

/// Makes a stage whose function is called for up to `max_items` items at the same time, each call a
/// task; results keep the order of the items. The function may be called by several threads.
/// Throws usage_error if `max_items` is 0.
template <class F>
[[nodiscard]] parallel_stage_of<std::decay_t<F>> parallel_stage(F&& function,
                                                                std::size_t max_items = 64) {
  if (max_items == 0) throw usage_error("parallel_stage: max_items must not be 0");
  return {std::forward<F>(function), max_items};
}

namespace stream::detail {

/// A process in place of a source or stage says by `item_type` what it writes.
template <class Source>
concept process_source = requires {
  typename Source::item_type;
}
&&std::invocable<Source&, out<typename Source::item_type>&>;
template <class Stage, class T>
concept process_stage = requires {
  typename Stage::item_type;
}
&&std::invocable<Stage&, in<T>&, out<typename Stage::item_type>&>;
template <class Sink, class T>
concept process_sink = !std::invocable<Sink&, T> && std::invocable<Sink&, in<T>&>;

template <class Source>
concept function_source = std::invocable<Source&> && requires(std::invoke_result_t<Source&> one) {
  { one.has_value() } -> std::convertible_to<bool>;
  *std::move(one);
};

/// The item that a source gives.
template <class Source>
struct source_item;
template <function_source Source>
struct source_item<Source> {
  using type = typename std::invoke_result_t<Source&>::value_type;
};
template <process_source Source>
struct source_item<Source> {
  using type = typename Source::item_type;
};
template <std::ranges::input_range Source>
requires(!function_source<Source> && !process_source<Source>) struct source_item<Source> {
  using type = std::ranges::range_value_t<Source>;
};

/// Calls f; an exception of it becomes a pipeline_error.
template <class F>
decltype(auto) call_stage(const std::string& stage, std::size_t item, F&& f) {
  try {
    return f();
  } catch (...) {
    throw pipeline_error(stage, item, std::current_exception());
  }
}

/// Calls a process of the program, which works on item `current()` if it throws.
template <class Body, class Current>
void call_process(const std::string& stage, Body&& body, Current&& current) {
  try {
    body();
  } catch (const process_leaves&) {
    throw;
  } catch (...) {
    throw pipeline_error(stage, static_cast<std::size_t>(current()), std::current_exception());
  }
}
/// Returns the number of the item that a process has read last.
template <class T>
std::uint64_t last_item(const in<T>& from) {
  return from.items() == 0 ? 0 : from.items() - 1;
}

template <class T, class Source>
void run_source(Source& source, out<T>& to) {
  std::size_t count = 0;
  const std::string name = "source";
  if constexpr (process_source<Source>) {
    call_process(
        name, [&] { source(to); }, [&] { return to.items(); });
  } else if constexpr (function_source<Source>) {
    while (auto item = call_stage(name, count, source)) {
      to.write(*std::move(item));
      ++count;
    }
  } else {
    auto at = call_stage(name, count, [&] { return std::ranges::begin(source); });
    while (call_stage(name, count, [&] { return at != std::ranges::end(source); })) {
      to.write(call_stage(name, count, [&]() -> T { return *at; }));
      ++count;
      call_stage(name, count, [&] { ++at; });
    }
  }
}

/// Builds the network of a pipeline; what it is given lives until the end of the run.
class pipeline_builder {
 public:
  explicit pipeline_builder(const pipeline_options& options)
      : net_({.capacity = options.capacity,
              .measure = options.report != nullptr,
              .trace = options.trace}),
        options_(options) {}

  template <class Source, class... Rest>
  void build(Source& source, Rest&... rest) {
    using item = typename source_item<Source>::type;
    auto ends = net_.make_channel<item>();
    net_.add(
        "source", [&source](out<item>& to) { run_source(source, to); }, std::move(ends.writer));
    add(std::move(ends.reader), rest...);
  }
  void run();

 private:
  template <class T, class Sink>
  void add(in<T> from, Sink& sink) {
    static_assert(std::invocable<Sink&, T> || process_sink<Sink, T>,
                  "the sink of a pipeline is called with an item");
    net_.add(
        "sink",
        [&sink](in<T>& items) {
          if constexpr (process_sink<Sink, T>) {
            call_process(
                "sink", [&] { sink(items); }, [&] { return last_item(items); });
          } else {
            std::size_t count = 0;
            for (T& each : items)
              call_stage("sink", count++, [&] { static_cast<void>(sink(std::move(each))); });
          }
        },
        std::move(from));
  }
  template <class T, process_stage<T> Stage, class Next, class... Rest>
  void add(in<T> from, Stage& stage, Next& next, Rest&... rest) {
    using result = typename Stage::item_type;
    auto ends = net_.make_channel<result>();
    const std::string name = next_name();
    net_.add(
        name,
        [&stage, name](in<T>& items, out<result>& to) {
          call_process(
              name, [&] { stage(items, to); }, [&] { return last_item(items); });
        },
        std::move(from), std::move(ends.writer));
    add(std::move(ends.reader), next, rest...);
  }
  template <class T, class Stage, class Next, class... Rest>
  requires(!process_stage<Stage, T>) void add(in<T> from, Stage& stage, Next& next, Rest&... rest) {
    static_assert(std::invocable<Stage&, T>, "a stage of a pipeline is called with an item");
    using result = std::decay_t<std::invoke_result_t<Stage&, T>>;
    static_assert(!std::is_void_v<result>, "a stage of a pipeline returns the next stage's item");
    auto ends = net_.make_channel<result>();
    const std::string name = next_name();
    net_.add(
        name,
        [&stage, name](in<T>& items, out<result>& to) {
          std::size_t count = 0;
          for (T& each : items)
            to.write(call_stage(name, count++, [&] { return stage(std::move(each)); }));
        },
        std::move(from), std::move(ends.writer));
    add(std::move(ends.reader), next, rest...);
  }
  template <class T, class F, class Next, class... Rest>
  void add(in<T> from, parallel_stage_of<F>& stage, Next& next, Rest&... rest) {
    static_assert(std::invocable<F&, T>, "a stage of a pipeline is called with an item");
    using result = std::decay_t<std::invoke_result_t<F&, T>>;
    using slot = started_item<F, T, result>;
    using task = started_task<slot>;
    auto started = net_.make_channel<task>(stage.max_items);
    auto ends = net_.make_channel<result>();
    const std::string name = next_name();
    auto slots = std::make_shared<std::vector<slot>>(stage.max_items + 2);
    // A long way between the two, and to the items, would leave workers without tasks.
    const std::size_t starts = net_.add(
        name + ", start",
        [&stage, slots](in<T>& items, out<task>& to) {
          counted_tasks tasks(*items.process_);
          std::size_t next_slot = 0;
          for (T& each : items) {
            const std::size_t place = next_slot++ % slots->size();
            slot& one = (*slots)[place];
            one.start(stage.function, std::move(each), tasks, place);
            to.write(task{&one});
          }
        },
        std::move(from), std::move(started.writer));
    net_.join_previous(starts);
    const std::size_t passes_on = net_.add(
        name,
        [name, slots](in<task>& items, out<result>& to) {
          std::size_t count = 0;
          for (const task& each : items) {
            slot* const one = each.item;
            if (!one->end().is_finished())
              items.wait_elsewhere([one] { one->end().wait("an item of a parallel stage"); });
            to.write(one->take(name, count++));
          }
        },
        std::move(started.reader), std::move(ends.writer));
    net_.join_previous(passes_on);
    add(std::move(ends.reader), next, rest...);
  }
  [[nodiscard]] std::string next_name() { return "stage " + std::to_string(++stages_); }

  network net_;
  const pipeline_options& options_;
  std::size_t stages_ = 0;
};

template <class First>
inline constexpr bool are_options = std::same_as<std::remove_cvref_t<First>, pipeline_options>;

}  // namespace stream::detail

/// Runs a pipeline to its end, as processes of the calling strand's runtime. The source is a range
/// of items, or a function that returns an optional one, at the end none. A stage is a function
/// from an item to that of the next stage, called for one item at a time in order, or a
/// parallel_stage(). The sink is a function of an item. Each of them may also be a process: a
/// function of ports, `void(in<T>&, out<U>&)`, whose class says by `using item_type = U` what it
/// writes; it may make any number of items from one. Each may run while the others do; all are
/// used where they are, and must outlive the call.
///
/// At most options.capacity items wait between two stages. Throws pipeline_error for the first
/// exception of a stage, cancelled after a stop request; no stage is called after that. Throws
/// usage_error outside a runtime.
template <class Source, class... Stages>
requires(!stream::detail::are_options<Source> &&
         sizeof...(Stages) != 0) void pipeline(const pipeline_options& options, Source&& source,
                                               Stages&&... stages) {
  stream::detail::pipeline_builder builder(options);
  builder.build(source, stages...);
  builder.run();
}
template <class Source, class... Stages>
requires(!stream::detail::are_options<Source> &&
         sizeof...(Stages) != 0) void pipeline(Source&& source, Stages&&... stages) {
  pipeline(pipeline_options{}, source, stages...);
}

}  // namespace creek
