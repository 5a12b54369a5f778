// SPDX-License-Identifier: Apache-2.0
// creek as an execution context of stdexec (github.com/NVIDIA/stdexec), the reference
// implementation of P2300: its algorithms run on the workers of a runtime, and mix with futures.
// The including program provides stdexec's headers.
#pragma once

#if !__has_include(<stdexec/execution.hpp>)
#error "creek/tasking/stdexec.hpp needs stdexec's headers in the include path"
#endif
#include <stdexec/execution.hpp>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <creek/tasking/sender.hpp>

namespace creek {

namespace detail {

struct stdexec_words {
  using sender_tag = stdexec::sender_tag;
  using receiver_tag = stdexec::receiver_tag;
  using operation_state_tag = stdexec::operation_state_tag;
  using scheduler_tag = stdexec::scheduler_tag;
  using set_value_t = stdexec::set_value_t;
  using set_error_t = stdexec::set_error_t;
  using set_stopped_t = stdexec::set_stopped_t;
  template <class... Signatures>
  using completion_signatures = stdexec::completion_signatures<Signatures...>;
  using get_stop_token_t = stdexec::get_stop_token_t;
  template <class Completion>
  using get_completion_scheduler_t = stdexec::get_completion_scheduler_t<Completion>;

  template <class... Signatures>
  static type_list<Signatures...> listed(completion_signatures<Signatures...>*);
  template <class S, class Environment>
  using signatures_of =
      decltype(listed(static_cast<stdexec::completion_signatures_of_t<S, Environment>*>(nullptr)));

  template <class S, class R>
  static auto connect(S&& from, R to) {
    return stdexec::connect(std::forward<S>(from), std::move(to));
  }
};

}  // namespace detail

/// Like task_scheduler, for stdexec::starts_on, continues_on and the rest.
using stdexec_scheduler = basic_task_scheduler<detail::stdexec_words>;

/// Returns the scheduler of a runtime. Any thread; runs a task.
inline stdexec_scheduler get_stdexec_scheduler(runtime& workers) {
  return stdexec_scheduler(detail::executor_of(workers));
}
/// Returns the scheduler of the runtime that runs here. Throws usage_error if there is none.
inline stdexec_scheduler get_stdexec_scheduler() {
  return stdexec_scheduler(detail::require_executor("get_stdexec_scheduler"));
}

/// Does the same as as_sender().
template <class T>
detail::future_sender<detail::stdexec_words, T> as_stdexec_sender(future<T> from) {
  return detail::future_sender<detail::stdexec_words, T>(std::move(from));
}

/// Does the same as as_future() with a sender of stdexec.
template <stdexec::sender Sender>
auto as_future(Sender&& from, std::stop_token stop = {}) {
  return detail::start_sender<detail::stdexec_words, Sender>(std::forward<Sender>(from),
                                                             std::move(stop));
}

}  // namespace creek
