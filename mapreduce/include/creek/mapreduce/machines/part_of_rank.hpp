// SPDX-License-Identifier: Apache-2.0
// Jobs as one rank of several runs them: its part of the keys, and pairs that come in messages.
#pragma once

#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/machines/key_owners.hpp>
#include <creek/mapreduce/machines/pairs_by_rank.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace creek::mapreduce::detail {

/// Pairs from another rank, which stay as long as the result.
struct message_split : text_split {};

/// A split whose pairs go into messages while it is mapped, unless they stay.
template <class Split, class Job>
struct split_by_rank : Split {
  split_by_rank(const Split& from, pairs_by_rank<Job>& to) : Split(from), messages(&to) {}
  [[nodiscard]] const Split& split() const noexcept { return *this; }
  pairs_by_rank<Job>* messages;
};
/// Same for splits that cannot be derived from.
template <class Split, class Job>
requires(!std::is_class_v<Split> || std::is_final_v<Split>) struct split_by_rank<Split, Job> {
  split_by_rank(const Split& from, pairs_by_rank<Job>& to) : own(&from), messages(&to) {}
  [[nodiscard]] const Split& split() const noexcept { return *own; }
  const Split* own;
  pairs_by_rank<Job>* messages;
};

/// Whether the pairs of a rank's own keys stay in its tables. Otherwise they are put into a message
/// like all others, because comparing keys whose text lies anywhere in the input costs more.
template <class Job>
inline constexpr bool keeps_own_pairs = !holds_views<typename Job::key_type>() ||
                                        std::is_same_v<typename Job::key_type, std::string_view>;

/// A job whose records are only those of keys that belong to one rank.
template <job Job>
struct part_of_rank : Job {
  part_of_rank(const Job& job, const key_owners<Job>& owners, std::size_t own_rank)
      : Job(job), owners_(&owners), rank_(own_rank) {}

  template <class Split, class Emit>
  void map(const Split& split, Emit& emit) const {
    call_map(static_cast<const Job&>(*this), split, emit);
  }
  template <class Split, class Emit>
  void map(const split_by_rank<Split, Job>& split, Emit& emit) const {
    auto divide = [&](typename Job::key_type key, typename Job::value_type value) {
      if (!split.messages->put(key, value)) emit(std::move(key), std::move(value));
    };
    call_map(static_cast<const Job&>(*this), split.split(), divide);
  }
  template <class Emit>
  void map(const message_split& split, Emit& emit) const {
    const auto bytes = std::as_bytes(std::span(split.text));
    for (const std::byte* at = bytes.data(); at != bytes.data() + bytes.size();) {
      auto one = get_pair<emitted<typename Job::key_type, typename Job::value_type>>(at);
      if constexpr (requires { this->hash(one.key); }) {
        if (!is_own(one.key)) refuse_hash();
      }
      emit(std::move(one.key), std::move(one.value));
    }
  }

  [[nodiscard]] bool belongs_here(const typename Job::key_type& key) const requires
      keeps_own_pairs<Job> {
    return is_own(key);
  }

 private:
  [[nodiscard]] bool is_own(const typename Job::key_type& key) const {
    return (*owners_)(key) == rank_;
  }

  const key_owners<Job>* owners_;
  std::size_t rank_;
};

template <class Job>
struct named_job<part_of_rank<Job>> {
  using type = Job;
};

}  // namespace creek::mapreduce::detail
