// SPDX-License-Identifier: Apache-2.0
// Type-erased input, so that a job is compiled once and not for every input: a job declares by
// `split_type` the argument of its map() or fill(), an input that of its visit().
#pragma once

#include <concepts>
#include <creek/core/function_ref.hpp>
#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/job.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace creek::mapreduce {

template <job Job>
struct result;
template <job Job>
struct spilled_result;
struct options;
struct memory_limit;
struct run_summary;

/// Input that refers to another one, const or not, which must outlive it: has the same splits,
/// converted to `Split`. A visit costs an indirect call for the split and one for each piece of
/// it.
template <class Split>
class split_source {
 public:
  using split_type = Split;
  using visitor = function_ref<void(const Split&)>;

  template <class Input>
  requires(!std::same_as<Input, split_source>) explicit split_source(Input& from)
      : from_(const_cast<void*>(static_cast<const void*>(std::addressof(from)))),
        calls_(&calls_of<Input>) {}

  [[nodiscard]] std::size_t splits() const { return calls_->splits(from_); }
  [[nodiscard]] std::uint64_t bytes() const { return calls_->bytes(from_); }
  void visit(std::size_t i, visitor f) const { calls_->visit(from_, i, f); }
  void visit_alone(std::size_t i, visitor f) const { calls_->visit_alone(from_, i, f); }
  [[nodiscard]] std::string name(std::uint32_t file) const { return calls_->name(from_, file); }

 private:
  struct calls {
    std::size_t (*splits)(void*);
    std::uint64_t (*bytes)(void*);
    void (*visit)(void*, std::size_t, visitor);
    void (*visit_alone)(void*, std::size_t, visitor);
    std::string (*name)(void*, std::uint32_t);
  };
  template <class Input>
  static constexpr calls calls_of{
      [](void* input) -> std::size_t { return static_cast<Input*>(input)->splits(); },
      [](void* input) -> std::uint64_t { return static_cast<Input*>(input)->bytes(); },
      [](void* input, std::size_t i, visitor f) { static_cast<Input*>(input)->visit(i, f); },
      [](void* input, std::size_t i, visitor f) {
        detail::visit_alone(*static_cast<Input*>(input), i, f);
      },
      [](void* input, std::uint32_t file) {
        return detail::file_name(*static_cast<Input*>(input), file);
      }};

  void* from_;
  const calls* calls_;
};

namespace detail {

/// Placeholder for the second argument of map(), to test whether a job takes a type of split.
template <job Job>
struct any_emit {
  void operator()(typename Job::key_type, typename Job::value_type) {}
};

/// Jobs that declare their `split_type`.
template <class J>
concept names_split = job<J> && requires {
  typename J::split_type;
} &&(
    requires(const J& j, const typename J::split_type& split, any_emit<J>& emit) {
      j.map(split, emit);
    } ||
    requires(const J& j, const typename J::split_type& split,
             std::span<typename J::value_type> into) { j.fill(split, into); });

/// Inputs whose splits can be converted to the split_type of such a job. Not text_split to
/// std::string_view, which would lose the information whether the text is stable.
template <class I, class J>
concept gives_splits_for = names_split<J> && requires {
  typename I::split_type;
} && !std::same_as<typename J::split_type, std::string_view> &&
    std::convertible_to<const typename I::split_type&, typename J::split_type>;

template <class Job>
using source_for = split_source<typename Job::split_type>;

// run() and run_to() of such jobs. The headers of the library's jobs declare them `extern`; the
// sources instantiate them.
template <names_split Job>
result<Job> run_source(const Job& job, source_for<Job> from, const options& chosen);
template <names_split Job>
spilled_result<Job> run_source(const Job& job, source_for<Job> from, const options& chosen,
                               const memory_limit& limit);
template <names_split Job>
run_summary run_source_to(const Job& job, source_for<Job> from, const options& chosen,
                          const memory_limit& limit,
                          function_ref<void(const record_of<Job>&)> sink);

}  // namespace detail
}  // namespace creek::mapreduce
