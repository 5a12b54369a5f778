// SPDX-License-Identifier: Apache-2.0
// Input of a job: anything that can be cut into splits. Text in memory and spans are defined here,
// files in files.hpp.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <creek/mapreduce/detail/csv_cuts.hpp>
#include <creek/mapreduce/inputs/lines.hpp>
#include <creek/mapreduce/inputs/malformed_text.hpp>
#include <creek/mapreduce/inputs/words.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace creek::mapreduce {

/// Position of a piece in the input. As a key it sorts results in input order.
struct origin {
  std::uint32_t file = 0;    ///< number of the file in the input
  std::uint64_t offset = 0;  ///< offset of the first byte in the file, after decompression
  friend auto operator<=>(const origin&, const origin&) = default;
};

}  // namespace creek::mapreduce

template <>
struct std::hash<creek::mapreduce::origin> {
  std::size_t operator()(const creek::mapreduce::origin& from) const noexcept {
    return static_cast<std::size_t>(from.offset ^ std::uint64_t{from.file} << 40);
  }
};

namespace creek::mapreduce {

/// Piece of text that cuts no record. If `stable`, it stays readable after the run, so that keys
/// may be views into it; otherwise it is invalid when `map` returns.
struct text_split {
  std::string_view text;
  bool stable = true;
  origin from{};
  operator std::string_view() const { return text; }  // NOLINT: jobs map a string_view
};

/// Input of a run: `splits()` pieces, each visited once, by any worker. `visit(i, f)` calls
/// `f(split)` for the records of split i, possibly several times (streams) or never. An input whose
/// visits may share work (streams) has `visit_alone(i, f)` too, whose do not. An input may declare
/// the argument type of `f` as `split_type`: see split_source.hpp. If it has `splits_may_move()`
/// and that returns true, any of several ranks with this input may visit any split.
template <class I>
concept input = requires(I& in, std::size_t i) {
  { in.splits() } -> std::convertible_to<std::size_t>;
  in.visit(i, [](const auto&) {});
  /// Size in bytes, for progress and throughput.
  { in.bytes() } -> std::convertible_to<std::uint64_t>;
};

namespace detail {
/// Visits split i so that all records that it begins with go to this visit, for jobs whose result
/// depends on that: by `visit_alone(i, f)`, if the input has it.
template <class Input, class F>
void visit_alone(Input& from, std::size_t i, F&& f) {
  if constexpr (requires { from.visit_alone(i, f); }) {
    from.visit_alone(i, f);
  } else {
    from.visit(i, f);
  }
}

/// Returns the split as text, without bytes if it is none.
template <class Split>
[[nodiscard]] text_split text_of(const Split& split) noexcept {
  if constexpr (std::derived_from<Split, text_split>) {
    return split;
  } else {
    return {{}, false};
  }
}

/// Returns the memory of a split that is text, or elements one after the other; empty for others.
template <class Split>
[[nodiscard]] std::string_view memory_of(const Split& split) noexcept {
  if constexpr (std::derived_from<Split, text_split>) {
    return split.text;
  } else if constexpr (requires { std::as_bytes(std::span(split)); }) {
    const auto bytes = std::as_bytes(std::span(split));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  } else {
    return {};
  }
}

/// Returns the name of an input's file, if it has one.
template <class Input>
[[nodiscard]] std::string file_name(const Input& from, std::uint32_t number) {
  if constexpr (requires { std::string(from.name(number)); }) {
    return from.name(number);
  } else {
    return {};
  }
}

/// Returns the size of a split in bytes, for progress.
template <class Split>
[[nodiscard]] std::size_t size_in_bytes(const Split& split) {
  if constexpr (std::derived_from<Split, text_split>) {
    return split.text.size();
  } else if constexpr (requires { split.size_bytes(); }) {
    return split.size_bytes();
  } else {
    return 0;
  }
}
}  // namespace detail

/// Returns the records that begin in bytes [i * step, (i + 1) * step) of `text`, where a byte for
/// which `is_border` holds ends a record. To find its begin it reads no more than that piece, so a
/// record of a gigabyte costs its own length once, not once per piece.
template <class Border = decltype(&is_space)>
[[nodiscard]] std::string_view cut(std::string_view text, std::size_t i, std::size_t step,
                                   Border is_border = &is_space) {
  std::size_t from = std::min(i * step, text.size());
  std::size_t to = std::min(from + step, text.size());
  if (from != 0 && !is_border(text[from - 1])) {  // inside an earlier record
    while (from < to && !is_border(text[from])) ++from;
    if (from == to) return {};
    ++from;
  }
  if (to != text.size() && !is_border(text[to - 1])) {
    while (to < text.size() && !is_border(text[to])) ++to;
    if (to != text.size()) ++to;  // the delimiter belongs to the record
  }
  return text.substr(from, to - from);
}

/// Units between which text is cut. Records of CSV are lines that may continue in quotes: see
/// csv_fields.hpp.
enum class text_units : std::uint8_t { words, lines, csv_records };

namespace detail {
/// Throws creek::error for a fault in line `line` of a text in memory.
[[noreturn]] void fail_in_line(std::size_t line, const malformed_text& why);
}  // namespace detail

/// Text in memory, cut at white space or behind lines or records. The memory must outlive the run
/// and the use of its result.
class text_view {
 public:
  using split_type = text_split;

  explicit text_view(std::string_view text, std::size_t split = std::size_t{1} << 20,
                     text_units units = text_units::words)
      : text_(text), split_(std::max<std::size_t>(split, 1)), units_(units) {
    if (units == text_units::csv_records) cuts_ = std::make_shared<detail::csv_cuts>(splits());
  }

  [[nodiscard]] std::size_t splits() const { return (text_.size() + split_ - 1) / split_; }
  [[nodiscard]] std::uint64_t bytes() const { return text_.size(); }
  [[nodiscard]] static constexpr bool splits_may_move() noexcept { return true; }
  /// Throws creek::error "line N: what is wrong" if `f` throws malformed_text.
  template <class F>
  void visit(std::size_t i, F&& f) const {
    const std::string_view piece = piece_of(i);
    if (piece.empty()) return;
    try {
      f(text_split{piece, true, {0, static_cast<std::uint64_t>(piece.data() - text_.data())}});
    } catch (const malformed_text& why) {
      const auto before = text_.substr(0, static_cast<std::size_t>(why.at() - text_.data()));
      detail::fail_in_line(1 + static_cast<std::size_t>(std::ranges::count(before, '\n')), why);
    }
  }

 private:
  [[nodiscard]] std::string_view piece_of(std::size_t i) const {
    if (cuts_) return cuts_->cut(text_, i, split_);
    return cut(text_, i, split_, units_ == text_units::lines ? &is_line_end : &is_space);
  }

  std::string_view text_;
  std::size_t split_;
  text_units units_;
  std::shared_ptr<detail::csv_cuts> cuts_;  // shared by copies
};

/// Elements of an array as an input; `map` gets subspans.
template <class T>
class span_input {
 public:
  using split_type = std::span<const T>;

  explicit span_input(std::span<const T> data, std::size_t split = std::size_t{1} << 16)
      : data_(data), split_(std::max<std::size_t>(split, 1)) {}

  [[nodiscard]] std::size_t splits() const { return (data_.size() + split_ - 1) / split_; }
  [[nodiscard]] std::uint64_t bytes() const { return data_.size_bytes(); }
  [[nodiscard]] static constexpr bool splits_may_move() noexcept { return true; }
  template <class F>
  void visit(std::size_t i, F&& f) const {
    const std::size_t from = i * split_;
    f(data_.subspan(from, std::min(split_, data_.size() - from)));
  }

 private:
  std::span<const T> data_;
  std::size_t split_;
};

}  // namespace creek::mapreduce
