// SPDX-License-Identifier: Apache-2.0
// Text of files in which words are separated by one space: words by Unicode properties, folded and
// normalised, for a job that counts words of white space.
#pragma once

#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/inputs/files.hpp>
#include <creek/text/unicode_words.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace creek::tool {

enum class word_kind : std::uint8_t { space, unicode };

struct word_choice {
  word_kind words = word_kind::space;
  text::word_options options{};  // of Unicode words
};

/// Appends the words of a text to `to`, each with a space behind it.
using rewriter = std::function<void(std::string_view text, std::string& to)>;

/// Returns a function that rewrites text, or an empty one if words are those of white space. Throws
/// usage_error if this tool was built without utf8proc.
[[nodiscard]] rewriter rewriter_of(const word_choice& chosen);

/// Files whose text is rewritten.
class rewritten_files {
 public:
  using split_type = mapreduce::text_split;

  /// Both outlive this object.
  rewritten_files(mapreduce::text_files& files, const rewriter& rewrite)
      : files_(files), rewrite_(rewrite) {}

  [[nodiscard]] std::size_t splits() const noexcept { return files_.splits(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return files_.bytes(); }
  [[nodiscard]] bool splits_may_move() const noexcept { return files_.splits_may_move(); }
  template <class F>
  void visit(std::size_t i, F&& f) {
    std::string text;
    files_.visit(i, [&](const split_type& split) {
      text.clear();
      rewrite_(split.text, text);
      if (!text.empty()) f(split_type{text, false, split.from});
    });
  }

 private:
  mapreduce::text_files& files_;
  const rewriter& rewrite_;
};

}  // namespace creek::tool
