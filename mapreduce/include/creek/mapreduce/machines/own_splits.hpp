// SPDX-License-Identifier: Apache-2.0
// Inputs of one rank: its part of the splits that all ranks see, and messages with pairs.
#pragma once

#include <creek/mapreduce/input.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace creek::mapreduce::detail {

struct no_split_type {};
template <class Input>
struct split_type_of {
  using type = no_split_type;
};
template <class Input>
requires requires {
  typename Input::split_type;
}
struct split_type_of<Input> {
  using type = typename Input::split_type;
};

/// Every `ranks`-th split of an input, from that with the rank's number on. Refers to the input.
template <class Input>
class own_splits {
 public:
  using split_type = typename split_type_of<Input>::type;

  own_splits(Input& from, int rank, int ranks) noexcept
      : from_(&from),
        first_(static_cast<std::size_t>(rank)),
        step_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] std::size_t splits() const {
    const std::size_t all = from_->splits();
    return all <= first_ ? 0 : (all - first_ - 1) / step_ + 1;
  }
  [[nodiscard]] std::uint64_t bytes() const { return from_->bytes() / step_; }
  template <class F>
  void visit(std::size_t i, F&& f) const {
    from_->visit(first_ + i * step_, f);
  }
  template <class F>
  void visit_alone(std::size_t i, F&& f) const {
    detail::visit_alone(*from_, first_ + i * step_, f);
  }
  [[nodiscard]] std::string name(std::uint32_t file) const { return file_name(*from_, file); }

 private:
  Input* from_;
  std::size_t first_, step_;
};

/// Messages as text that stays, one split each.
class messages_as_splits {
 public:
  using split_type = text_split;

  explicit messages_as_splits(std::span<const std::string_view> messages) noexcept
      : messages_(messages) {}

  [[nodiscard]] std::size_t splits() const { return messages_.size(); }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const std::string_view each : messages_) sum += each.size();
    return sum;
  }
  template <class F>
  void visit(std::size_t i, F&& f) const {
    f(text_split{messages_[i], true});
  }

 private:
  std::span<const std::string_view> messages_;
};

}  // namespace creek::mapreduce::detail
