// SPDX-License-Identifier: Apache-2.0
// Matches of strings, filtered lines and inverted indices against loops over lines and std::map.
#include <creek/mapreduce.hpp>
#include <creek/mapreduce/inputs/find_bytes.hpp>

#include <gmock/gmock.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "file_case.hpp"
#include "oracle.hpp"

namespace creek::mapreduce {
namespace {

namespace fs = std::filesystem;

/// Returns text of few different bytes, so that full and partial matches are frequent.
std::string random_lines(std::uint64_t seed, std::size_t bytes) {
  std::mt19937_64 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = "aaaabbc\0\xff \n"[random() % 11];
  return text;
}

/// Tries every position of a text with many lengths of text and pattern.
void find_everywhere() {
  const std::string text = random_lines(1, 700);
  for (std::size_t from = 0; from < 40; ++from) {
    for (std::size_t length = 1; length < 12; ++length) {
      for (const std::size_t size : {0u, 1u, 5u, 15u, 16u, 64u, 65u, 130u, 500u}) {
        const std::string_view some = std::string_view(text).substr(from, size);
        const std::string_view pattern = std::string_view(text).substr(3 * from + 100, length);
        const auto expected = std::min(some.find(pattern), some.size());
        const char* const end = some.data() + some.size();
        ASSERT_EQ(find_bytes(some.data(), end, pattern) - some.data(),
                  static_cast<std::ptrdiff_t>(expected))
            << from << ' ' << length << ' ' << size;
      }
    }
  }
}

TEST(FindBytes, FindsTheFirstPlaceOnEveryInstructionSet) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    SCOPED_TRACE(hwy::TargetName(target));
    find_everywhere();
  }
  hwy::GetChosenTarget().DeInit();
}

TEST(FindBytes, ReadsNothingElse) {
  // Reads up to the ends of exact allocations, for AddressSanitizer.
  for (std::size_t size = 0; size < 200; ++size) {
    const std::vector<char> text(size, 'a');
    for (const char* pattern : {"a", "ab", "aaab", "baaaaaaaaaaaaaaaaaaaaaaa"}) {
      const char* const end = text.data() + size;
      const bool there = std::string_view(pattern) == "a" && size > 0;
      EXPECT_EQ(find_bytes(text.data(), end, pattern), there ? text.data() : end);
    }
  }
}

TEST(CountByte, CountsEachOnEveryInstructionSet) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::GetChosenTarget().Update(target);
    SCOPED_TRACE(hwy::TargetName(target));
    for (const std::size_t size : {0, 1, 63, 64, 65, 4079, 4080, 4081, 16320, 16321, 40'000}) {
      for (const char byte : {'\n', '\0', '\xff', '\x80'}) {
        // Lanes that are always equal, for vectors of any size, and bytes that seldom are.
        const std::vector<char> same(size, byte);
        ASSERT_EQ(count_byte({same.data(), size}, byte), size);
        ASSERT_EQ(count_byte({same.data(), size}, 'a'), 0u);
        const std::string mixed = random_lines(size, size + 64);
        for (std::size_t from = 0; from < 64; from += 7) {
          const std::string_view some = std::string_view(mixed).substr(from, size);
          ASSERT_EQ(count_byte(some, byte),
                    static_cast<std::uint64_t>(std::ranges::count(some, byte)));
        }
      }
    }
  }
  hwy::GetChosenTarget().DeInit();
}

class TextJobs : public file_case {
 protected:
  /// A mapped, a small and a packed file, and their texts.
  void make_files(std::uint64_t seed) {
    texts_ = {random_lines(seed, 60000), random_lines(seed + 1, 90) + "no end", "",
              random_lines(seed + 2, 50000) + "\n"};
    names_ = {write("a", texts_[0]), write("b", texts_[1]), write("c", texts_[2])};
    fs::remove(path("d"));
    names_.push_back(compress("d", texts_[3]));
  }
  std::vector<std::string> names_, texts_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

const text_files::settings by_lines{.split = 1000, .units = text_units::lines};

TEST_F(TextJobs, MatchesAreCountedAsByALoop) {
  const std::vector<std::string> patterns{"a",        "aa",     "abc",     "ab c",
                                          "\xff",     "no end", "nowhere", std::string("b\0a", 3),
                                          "aaaaaaaa", "a"};
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    make_files(seed);
    std::vector<match_counts> expected(patterns.size());
    for (const std::string& text : texts_) {
      for (const std::string& line : lines_of(text)) {
        for (std::size_t k = 0; k < patterns.size(); ++k) {
          std::uint64_t here = 0;
          for (std::size_t i = 0; i < line.size(); ++i)
            here += line.substr(i).starts_with(patterns[k]);
          expected[k].occurrences += here;
          expected[k].lines += here != 0;
        }
      }
    }
    for (const unsigned workers : {1u, 2u, 5u}) {
      text_files files(names_, by_lines);
      const auto made = runtime(scheduler_options{.workers = workers}).run([&] {
        return run(string_match(patterns), files);
      });
      ASSERT_EQ(made.size(), patterns.size());
      for (std::size_t k = 0; k < patterns.size(); ++k) {
        EXPECT_EQ(made[k].value, expected[k]) << patterns[k];
      }
    }
  }
}

struct line_found {
  std::uint32_t file;
  std::uint64_t number;
  std::string text;
};

TEST_F(TextJobs, FilteredLinesAreThoseOfALoopInOrder) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    make_files(seed);
    for (const std::string pattern : {"abc", "a", "no end", "nowhere"}) {
      for (const bool invert : {false, true}) {
        std::vector<line_found> expected;
        std::string joined;
        for (std::uint32_t f = 0; f < texts_.size(); ++f) {
          std::uint64_t number = 0;
          for (const std::string& line : lines_of(texts_[f])) {
            if ((line.find(pattern) != std::string::npos) != invert) {
              expected.push_back({f, number, line});
              joined += line;
            }
            ++number;
          }
        }
        for (const unsigned workers : {1u, 4u}) {
          runtime rt(scheduler_options{.workers = workers});
          for (const strategy how : {strategy::combine_on_emit, strategy::emit_and_group}) {
            const auto filtered = [&](filter_detail detail, text_files& files) {
              return rt.run([&] {
                return run(line_filter(pattern, {detail, invert}), files, {.how = how});
              });
            };
            text_files files(names_, by_lines);
            std::vector<line_found> found;
            std::map<std::uint32_t, std::uint64_t> before;
            for (const auto& [from, piece] : filtered(filter_detail::lines, files)) {
              for (const filtered_line& line : piece.lines) {
                found.push_back(
                    {from.file, before[from.file] + line.number, std::string(line.text)});
              }
              before[from.file] += piece.seen;
            }
            ASSERT_EQ(found.size(), expected.size()) << pattern << invert;
            for (std::size_t i = 0; i < found.size(); ++i) {
              ASSERT_EQ(found[i].file, expected[i].file) << i;
              ASSERT_EQ(found[i].number, expected[i].number) << i;
              ASSERT_EQ(found[i].text, expected[i].text) << i;
            }
            std::string text;
            for (const auto& [from, piece] : filtered(filter_detail::text, files)) {
              for (const filtered_line& line : piece.lines) text += line.text;
            }
            EXPECT_TRUE(text == joined) << pattern << invert;
            std::uint64_t count = 0;
            for (const auto& [from, piece] : filtered(filter_detail::counts, files)) {
              EXPECT_TRUE(piece.lines.empty());
              count += piece.found;
            }
            EXPECT_EQ(count, expected.size());
          }
        }
      }
    }
  }
}

TEST_F(TextJobs, LinesLongerThanEveryPiece) {
  const std::string great(3 << 20, 'w');
  const std::string text = "no\n" + great + "x" + great + "\nno\n" + great + "x";
  for (const std::string& name : {write("plain", text), compress("packed", text)}) {
    text_files files({name}, by_lines);
    const auto made = run(line_filter("wxw", {}), files);
    std::string found;
    for (const auto& [from, piece] : made) {
      for (const filtered_line& line : piece.lines) found += line.text;
    }
    EXPECT_EQ(found.size(), 2 * great.size() + 2) << name;
    EXPECT_TRUE(found == great + "x" + great + "\n") << name;
  }
}

TEST(TextJobsRefuse, PatternsThatNoLineCanHold) {
  EXPECT_THROW(line_filter("", {}), usage_error);
  EXPECT_THROW(line_filter("a\nb", {}), usage_error);
  EXPECT_THROW(string_match({"a", ""}), usage_error);
}

TEST_F(TextJobs, IndexIsThatOfAMap) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    std::vector<std::string> names;
    std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> expected;
    for (std::uint32_t f = 0; f < 5; ++f) {
      const std::string text = oracle::random_text(seed + f % 3, f * 9000, 300);
      const std::string name = "f" + std::to_string(f);
      fs::remove(path(name));
      names.push_back(f % 2 ? compress(name, text) : write(name, text));
      for (const auto& [word, count] : oracle::count_by_map(text)) expected[{word, f}] = count;
    }
    for (const unsigned workers : {1u, 2u, 5u}) {
      for (const strategy how : {strategy::combine_on_emit, strategy::emit_and_group}) {
        text_files files(names, {.split = 2000});
        const auto made = runtime(scheduler_options{.workers = workers}).run([&] {
          return run(inverted_index{}, files, {.how = how});
        });
        ASSERT_EQ(made.size(), expected.size());
        auto at = expected.begin();
        for (const auto& [key, count] : made) {
          ASSERT_EQ(std::get<0>(key), at->first.first);
          ASSERT_EQ(std::get<1>(key), at->first.second);
          ASSERT_EQ(count, at->second);
          ++at;
        }
      }
    }
  }
}

/// Throws at one place of the input.
struct throws_at {
  using key_type = origin;
  using value_type = std::string;
  static constexpr bool may_group = true;
  std::uint64_t offset;
  template <class Emit>
  void map(const text_split& split, Emit& emit) const {
    emit(split.from, std::string(split.text));
    if (split.from.offset <= offset && offset < split.from.offset + split.text.size()) {
      throw std::runtime_error("at " + std::to_string(offset));
    }
  }
  static void combine(std::string& into, std::string&& from) { into += from; }
};

TEST_F(TextJobs, ExceptionOfAMapperComesOut) {
  make_files(1);
  for (const strategy how : {strategy::combine_on_emit, strategy::emit_and_group}) {
    for (const std::uint64_t offset : {0u, 31234u, 59999u}) {
      text_files files(names_, by_lines);
      runtime rt(scheduler_options{.workers = 4});
      try {
        (void)rt.run([&] { return run(throws_at{offset}, files, {.how = how}); });
        FAIL() << "no exception";
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(e.what(), "at " + std::to_string(offset));
      }
    }
  }
}

}  // namespace
}  // namespace creek::mapreduce
