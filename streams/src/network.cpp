// SPDX-License-Identifier: Apache-2.0
#include <creek/stream/network.hpp>

#include <fmt/format.h>

#include "exception_text.hpp"
#include "network_state.hpp"

namespace creek::stream {

std::string detail::exception_text(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& one) {
    return one.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

process_error::process_error(const std::string& process, std::exception_ptr cause)
    : std::runtime_error(fmt::format("process '{}': {}", process, detail::exception_text(cause))),
      process_(process),
      cause_(std::move(cause)) {}

void detail::state_deleter::operator()(network_state* state) const noexcept {
  delete state;
}

network::network(network_options options)
    : options_(options), state_(new detail::network_state(options.max_capacity)) {
  require_capacity(options.capacity);
  require_capacity(options.max_capacity);
}

std::size_t network::new_channel_number() const {
  require_not_run();
  return state_->channels();
}

void network::expect_process() {
  require_not_run();
  state_->expect_process();
}

void network::require_not_run() const {
  if (has_run_) throw usage_error("stream: a network is complete once it runs");
}

void network::require_capacity(std::size_t capacity) {
  if (capacity == 0 || capacity > spsc_place::max_capacity) {
    throw usage_error(fmt::format(
        "stream: the capacity of a channel must be between 1 and 2^29, got {}", capacity));
  }
}

void network::require_own(const detail::channel_base* channel, const std::string& process,
                          std::size_t port) const {
  if (channel != nullptr && &channel->network() == state_.get()) return;
  throw usage_error(fmt::format("stream: process '{}', port {}: {}", process, port,
                                channel == nullptr
                                    ? "it is the end of no channel, or was given away before"
                                    : "its channel belongs to another network"));
}

std::string network::readable_type(std::string_view function) {
  const std::string_view mark = "T = ";
  const std::size_t at = function.find(mark);
  if (at == std::string_view::npos) return "items";
  const std::string_view from = function.substr(at + mark.size());
  return std::string(from.substr(0, from.find_first_of(";]")));
}

void network::add(std::unique_ptr<detail::channel_base> channel) {
  state_->add(std::move(channel));
}

std::size_t network::add(std::unique_ptr<detail::process> process) {
  return state_->add(std::move(process));
}

void network::join_previous(std::size_t process) noexcept {
  state_->join_previous(process);
}

void network::place(std::size_t process, unsigned worker) {
  require_not_run();
  state_->place(process, worker);
}

void network::run(std::stop_token stop) {
  if (has_run_) throw usage_error("stream: a network runs once");
  ext::require_executor("stream::network::run");
  state_->require_complete();
  // A backend with a clock of its own has traces of its own.
  const bool has_own_time = ext::current_executor()->traits().has_own_time;
  trace::session* const session = has_own_time ? nullptr : options_.trace;
  if (options_.measure || session != nullptr)
    state_->measure({.is_of_backend = has_own_time}, session);
  has_run_ = true;
  {
    std::exception_ptr stopped = std::make_exception_ptr(cancelled("stream: a stop was requested"));
    const std::stop_callback ending(std::move(stop), [&] { state_->end_early(stopped); });
    state_->run();
  }
  if (std::exception_ptr reason = state_->reason()) std::rethrow_exception(reason);
}

network_report network::report() const {
  if (!has_run_) throw usage_error("stream: a network has figures once it has run");
  return state_->report();
}

std::size_t network::capacity(std::size_t channel) const {
  if (channel >= state_->channels()) {
    throw usage_error(fmt::format("stream: there is no channel {}: the network has {}", channel,
                                  state_->channels()));
  }
  return state_->channel(channel).capacity();
}

}  // namespace creek::stream
