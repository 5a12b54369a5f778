// SPDX-License-Identifier: Apache-2.0
// Text files cut at words or lines: the pieces together are the text, each begins a record, and the
// counts of words equal those of a plain loop.
#include <algorithm>
#include <creek/mapreduce.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <mutex>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "mapreduce/oracle.hpp"

namespace creek::fuzz {
namespace {

using mapreduce::text_files, mapreduce::text_split, mapreduce::text_units;

struct found_piece {
  std::uint64_t offset;
  std::string text;
  std::uint64_t line;  // line of its first byte
};

std::vector<found_piece> pieces_of(const std::string& name, const text_files::settings& chosen,
                                   bool several) {
  text_files files({name}, chosen);
  std::mutex mutex;
  std::vector<found_piece> found;
  workers(several).run([&] {
    parallel_for(std::size_t{0}, files.splits(), [&](std::size_t i) {
      files.visit(i, [&](const text_split& split) {
        const std::uint64_t line =
            chosen.units == text_units::lines ? files.line_of(split, split.text.data()) : 0;
        const std::lock_guard lock(mutex);
        found.push_back({split.from.offset, std::string(split.text), line});
      });
    });
  });
  std::ranges::sort(found, {}, &found_piece::offset);
  return found;
}

void check_pieces(std::string_view text, const std::vector<found_piece>& found, text_units units) {
  std::uint64_t at = 0, line = 1;
  for (const found_piece& piece : found) {
    expect(!piece.text.empty() && piece.offset == at, "a piece is empty or not where it says");
    expect(text.substr(at, piece.text.size()) == piece.text, "a piece is not of the text");
    if (at != 0) {
      const char before = text[at - 1];
      expect(units == text_units::lines ? before == '\n' : mapreduce::is_space(before),
             "a piece begins within a record");
    }
    expect(units == text_units::words || piece.line == line, "another line");
    line += static_cast<std::uint64_t>(std::ranges::count(piece.text, '\n'));
    at += piece.text.size();
  }
  expect(at == text.size(), "text is missing");
}

void check_words(const std::string& name, std::string_view text, std::size_t split, bool several) {
  text_files files({name}, {.split = split});
  const auto counts = workers(several).run([&] { return run(mapreduce::word_count{}, files); });
  expect(mapreduce::oracle::as_map(counts) == mapreduce::oracle::count_by_map(text), "other words");
}

void check_words_in_memory(std::string_view text, std::size_t split, bool several) {
  const mapreduce::text_view view(text, split);
  const auto counts = workers(several).run([&] { return run(mapreduce::word_count{}, view); });
  expect(mapreduce::oracle::as_map(counts) == mapreduce::oracle::count_by_map(text), "other words");
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek::fuzz;
  input from(data, size);
  const unsigned flags = from.byte();
  const std::size_t split = from.piece_bytes();
  const std::string_view text = from.rest();
  if (looks_compressed(text)) return -1;
  const bool several = (flags & 1) != 0;
  const memory_file file(text);
  switch (flags >> 1 & 3) {
    case 0:
      check_words(file.name(), text, split, several);
      break;
    case 1:
      check_words_in_memory(text, split, several);
      break;
    default: {
      const auto units = (flags >> 1 & 1) != 0 ? text_units::lines : text_units::words;
      check_pieces(text, pieces_of(file.name(), {.split = split, .units = units}, several), units);
    }
  }
  return 0;
}
