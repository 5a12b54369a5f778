// SPDX-License-Identifier: Apache-2.0
// The readers that jobs call within `map` (Unicode words, matches, fields of CSV, JSON lines) on a
// file in one piece and in many: both must give the same, or the same first fault.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <creek/mapreduce.hpp>
#include <creek/text.hpp>
#include <utility>
#include <vector>

#include "harness.hpp"

namespace creek::fuzz {
namespace {

using mapreduce::text_split, mapreduce::text_units;
using position = std::pair<std::uint64_t, std::uint64_t>;  // of the piece, and within it

/// Emits the results of `read(split, found)` by their positions.
template <class Read>
struct reading {
  using key_type = position;
  using value_type = std::string;
  const Read* read;
  std::atomic<std::uint64_t>* skipped;

  template <class Emit>
  struct found_in {
    std::uint64_t offset;
    Emit& emit;
    std::uint64_t count = 0;
    std::size_t skipped = 0;

    void operator()(std::string found) { emit({offset, count++}, std::move(found)); }
  };
  template <class Emit>
  void map(const text_split& split, Emit& emit) const {
    found_in<Emit> found{split.from.offset, emit};
    (*read)(split, found);
    *skipped += found.skipped;
  }
  static void combine(std::string&, std::string&&) { throw finding("two at one position"); }
};

struct result {
  std::vector<std::string> found;
  std::uint64_t skipped = 0;
  std::string why;  ///< the text was refused
};

template <class Read>
result read_file(const std::string& name, std::string_view text, std::size_t split,
                 text_units units, bool several, const Read& read) {
  result made;
  std::atomic<std::uint64_t> skipped = 0;
  const auto refused = refusal_of(name, [&] {
    mapreduce::text_files files({name}, {.split = split, .units = units});
    const auto records = workers(several).run([&] {
      return run(reading<Read>{&read, &skipped}, files);
    });
    for (const auto& [at, found] : records) made.found.push_back(found);
    made.skipped = skipped;
  });
  if (refused) made = {{}, 0, refused->why};
  expect(refused.has_value() == !made.why.empty(), "refused without a reason");
  expect(
      !refused || refused->line() <= 1 + static_cast<std::uint64_t>(std::ranges::count(text, '\n')),
      "a line behind the last one: " + made.why);
  return made;
}

template <class Read>
void compare(std::string_view text, std::size_t split, text_units units, const Read& read) {
  const memory_file file(text);
  const result whole = read_file(file.name(), text, text.size() + 1, units, false, read);
  const result cut = read_file(file.name(), text, split, units, true, read);
  expect(whole.why == cut.why, "other faults: " + whole.why + " / " + cut.why);
  expect(whole.found == cut.found && whole.skipped == cut.skipped, "other results");
}

void check_words(std::string_view text, std::size_t split, unsigned choice) {
  const text::word_options chosen{.fold_case = (choice & 1) != 0,
                                  .normalize = static_cast<text::normal_form>(choice / 2 % 3),
                                  .digits = (choice / 6 & 1) != 0};
  const bool as_they_are = !chosen.fold_case && chosen.normalize == text::normal_form::none;
  compare(text, split, text_units::words, [&](const text_split& from, auto&& found) {
    const char* behind = from.text.data();
    text::for_each_unicode_word(
        from.text,
        [&](std::string_view word) {
          if (as_they_are) {
            expect(!word.empty() && word.data() >= behind, "a word is empty or not in its place");
            behind = word.data() + word.size();
          }
          found(std::string(word));
        },
        chosen);
    expect(behind <= from.text.data() + from.text.size(), "a word behind the text");
  });
}

/// Every match with its groups; the expression is in front of the text.
void check_matches(std::string_view text, std::size_t split, unsigned choice) {
  static constexpr std::array known{"[a-z]+", "^.", ".$", "(a|b)*(c?)", "\\b\\w", "\\A.", "x*\\z"};
  std::string expression;
  if (choice < known.size()) {
    expression = known[choice];
  } else {
    const std::size_t size = std::min<std::size_t>(choice % 16, text.size());
    expression = text.substr(0, size);
    text.remove_prefix(size);
    if (looks_compressed(text)) return;
  }
  std::optional<text::pattern> wanted;
  try {
    wanted.emplace(expression, text::pattern_options{.ignore_case = (choice & 1) != 0,
                                                     .bytes = (choice & 2) != 0});
  } catch (const usage_error&) {
    return;  // no expression
  }
  compare(text, split, text_units::lines, [&](const text_split& from, auto&& found) {
    const char* behind = from.text.data();
    text::for_each_match(from.text, *wanted, [&](text::match match) {
      expect(match.size() == wanted->groups() + 1, "other groups");
      expect(!match[0].empty() && match[0].data() >= behind, "a match is empty or in another");
      behind = match[0].data() + match[0].size();
      expect(match[0].find('\n') == match[0].npos, "a match in two lines");
      std::string all;
      for (const std::string_view group : match) all += std::string(group) + '\n';
      found(all);
    });
    expect(behind <= from.text.data() + from.text.size(), "a match behind the text");
  });
}

void check_fields(std::string_view text, std::size_t split, unsigned choice) {
  const mapreduce::csv_options chosen{
      .separator = ",;\t|"[choice % 4], .header = (choice / 4 & 1) != 0, .fields = choice / 8 % 4};
  compare(text, split, text_units::csv_records, [&](const text_split& from, auto&& found) {
    mapreduce::for_each_csv_record(
        from,
        [&](const mapreduce::csv_record& record) {
          expect(chosen.fields == 0 || record.size() == chosen.fields, "other fields");
          std::string all = std::to_string(record.size());
          for (const std::string_view field : record) {
            all += ' ' + std::to_string(field.size()) + ':' + std::string(field);
          }
          found(all);
        },
        chosen);
  });
}

/// Reads all of a value; wrong types must be refused.
void append(std::string& to, const text::json_value& value) {
  using text::json_type;
  const json_type type = value.type();
  const auto refuses = [&](auto&& read) {
    try {
      read();
    } catch (const mapreduce::malformed_text&) {
      return;
    }
    throw finding("a value has two types");
  };
  if (type != json_type::string) refuses([&] { (void)value.string(); });
  if (type != json_type::boolean) refuses([&] { (void)value.boolean(); });
  if (type != json_type::object) refuses([&] { (void)value.find(""); });
  switch (type) {
    case json_type::null:
      to += 'n';
      break;
    case json_type::boolean:
      to += value.boolean() ? 't' : 'f';
      break;
    case json_type::number:
      to += std::to_string(std::bit_cast<std::uint64_t>(value.number())) + '.';
      break;
    case json_type::string:
      to += std::to_string(value.string().size()) + ':' + std::string(value.string());
      break;
    case json_type::array:
      to += '[';
      value.for_each_element([&](const text::json_value& one) { append(to, one); });
      to += ']';
      break;
    case json_type::object:
      to += '{';
      value.for_each_member([&](std::string_view name, const text::json_value& one) {
        expect(value.find(name).has_value(), "a member has no name");
        to += std::to_string(name.size()) + ':' + std::string(name);
        append(to, one);
      });
      to += '}';
  }
}

void check_json(std::string_view text, std::size_t split, unsigned choice) {
  const text::json_options chosen{.skip_damaged = (choice & 1) != 0};
  compare(text, split, text_units::lines, [&](const text_split& from, auto&& found) {
    const std::size_t skipped = text::for_each_json_line(
        from,
        [&](const text::json_value& value) {
          std::string all;
          append(all, value);
          found(all);
        },
        chosen);
    expect(skipped == 0 || chosen.skip_damaged, "skipped");
    found.skipped += skipped;
  });
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek;
  fuzz::input from(data, size);
  const unsigned reader = from.below(4), choice = from.byte();
  const std::size_t split = from.piece_bytes();
  const std::string_view text = from.rest();
  if (fuzz::looks_compressed(text)) return -1;
  if (reader == 0 && text::has_unicode_words()) fuzz::check_words(text, split, choice);
  if (reader == 1 && text::has_patterns()) fuzz::check_matches(text, split, choice);
  if (reader == 2) fuzz::check_fields(text, split, choice);
  if (reader == 3 && text::has_json_lines()) fuzz::check_json(text, split, choice);
  return 0;
}
