// SPDX-License-Identifier: Apache-2.0
// Streams and compressed files that several workers read together, against the text itself.
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oracle.hpp"
#include "streams_case.hpp"
#include "support/few_cases.hpp"
#include "support/seed.hpp"
#include "support/shell.hpp"

namespace creek::mapreduce {
namespace {

TEST_F(Streams, MembersCutTextAtEveryByte) {
  const std::string text = oracle::random_text(3, 6000, 60);
  for (const char* const format : formats) {
    for (const std::size_t member : {1, 7, 97, 1000, 10000}) {
      if (support::few_cases && member != 7 && member != 1000) continue;
      const std::string name = path(format);
      fs::remove(name);
      const std::size_t used = std::min(300 * member, text.size());
      for (std::size_t at = 0; at < used; at += member) {
        add_member(format, format, std::string_view(text).substr(at, std::min(member, used - at)));
        if (at % 5 == 0) add_member(format, format, "");
      }
      for (const unsigned workers : numbers_of_workers) {
        SCOPED_TRACE(testing::Message() << format << ", members of " << member << ", " << workers);
        for (const std::size_t split : {1, 1000}) {
          EXPECT_EQ(read(name, workers, split), text.substr(0, used));
        }
        EXPECT_EQ(read(name, workers, 500, text_units::lines), text.substr(0, used));
      }
    }
  }
}

TEST_F(Streams, RecordLongerThanManyMembers) {
  const std::string word(3 << 20, 'w');
  const std::string text = "a\n" + word + "\nb\nc";
  for (const char* const format : formats) {
    for (std::size_t at = 0; at < text.size(); at += 50000) {
      add_member(format, format, std::string_view(text).substr(at, 50000));
    }
    for (const unsigned workers : numbers_of_workers) {
      EXPECT_EQ(read(path(format), workers, 1), text) << format;
      EXPECT_EQ(read(path(format), workers, 1, text_units::lines), text) << format;
    }
  }
}

/// Members that are not compressed have members within them, which are none of the file.
TEST_F(Streams, MembersWithinMembersAreText) {
  std::string inner;
  for (int i = 0; i < 40; ++i) {
    const std::string part = oracle::random_text(static_cast<std::uint64_t>(i), 700, 60);
    for (const char* const format : formats) {
      fs::remove(path("inner"));
      add_member(format, "inner", part);
      inner += bytes_of("inner") + '\n';
    }
  }
  const auto stored = [&](std::string_view format, const std::string& name) {
    if (format == "gzip") {
      const gzFile file = gzopen(path(name).c_str(), "ab0");  // level 0: as it is
      gzwrite(file, inner.data(), static_cast<unsigned>(inner.size()));
      gzclose(file);
    } else {
      add_member(format, name, inner);
    }
  };
  for (const char* const format : {"gzip", "zstd", "lz4", "xz", "xz blocks", "bzip2"}) {
    for (int i = 0; i < 3; ++i) stored(format, format);
    const std::string text = inner + inner + inner;
    for (const unsigned workers : numbers_of_workers) {
      for (const std::size_t split : {1, 3000, 20000}) {
        EXPECT_EQ(read(path(format), workers, split), text) << format << ' ' << workers;
      }
    }
  }
}

/// Returns lines of the bytes from `@` to `o` that `maps` name: bit 15 of the first is for `@`, bit
/// 15 of the second for `P`. A bzip2 block has these maps one behind the other.
std::string text_of_bytes(const std::array<unsigned, 3>& maps, std::size_t size) {
  std::string bytes = "\n";
  for (unsigned i = 0; i < 48; ++i) {
    if ((maps[i / 16] >> (15 - i % 16) & 1) != 0) bytes += static_cast<char>('@' + i);
  }
  std::mt19937_64 random(7);
  std::string text(size, '\n');
  for (char& c : text) c = bytes[random() % bytes.size()];
  return text;
}

/// A stream has a block of each 100 000 bytes. The maps of two texts are the marks of a block and
/// of a stream's end.
TEST_F(Streams, Bzip2BlocksBeginAtAnyBit) {
  const std::string texts[] = {oracle::random_text(9, 650'000, 3000),
                               text_of_bytes({0x3141, 0x5926, 0x5359}, 350'000),
                               text_of_bytes({0x1772, 0x4538, 0x5090}, 350'000)};
  const std::string all = texts[0] + texts[1] + texts[2];
  add_member("bzip2", "one", all);
  for (const std::string& text : texts) add_member("bzip2", "many", text);
  for (const char* const name : {"one", "many"}) {
    for (const unsigned workers : numbers_of_workers) {
      EXPECT_EQ(read(path(name), workers, 1000), all) << name << ' ' << workers;
      EXPECT_EQ(read(path(name), workers, 300'000, text_units::lines), all)
          << name << ' ' << workers;
    }
  }
  const std::string bytes = bytes_of("one");
  for (const std::size_t part : {1u, 2u, 5u, 6u}) {  // sevenths of the file
    std::string changed = bytes;
    changed[part * bytes.size() / 7] ^= '\x10';
    const std::string bad = write("bad", changed);
    const std::string cut =
        write("cut", std::string_view(bytes).substr(0, part * bytes.size() / 7));
    const std::string after = write("after", bytes + std::string(part, '\n'));
    for (const unsigned workers : numbers_of_workers) {
      EXPECT_THAT(error_of([&] { (void)read(bad, workers, 1000); }),
                  testing::HasSubstr("bad: damaged bzip2 data"));
      EXPECT_THAT(error_of([&] { (void)read(cut, workers, 1000); }),
                  testing::HasSubstr("cut: truncated bzip2 data"));
      EXPECT_THAT(error_of([&] { (void)read(after, workers, 1000); }),
                  testing::HasSubstr("after: damaged bzip2 data"));
    }
  }
}

/// Text of very many copies expands to more than a worker takes at once.
TEST_F(Streams, SmallFileOfLargeText) {
  const std::string text = [] {
    std::string all(40'000'000, 'x');
    for (std::size_t i = 99; i < all.size(); i += 100) all[i] = '\n';
    return all;
  }();
  const auto formats_with_copies = support::few_cases ? std::vector<const char*>{"zstd"}
                                                      : std::vector<const char*>{"gzip", "zstd"};
  for (const char* const format : formats_with_copies) {
    add_member(format, format, text);
    add_member(format, format, text);
    for (const unsigned workers : {2u, 0u}) {
      if (support::few_cases && workers == 0) continue;
      text_files files({path(format)}, {.split = 1000, .units = text_units::lines});
      std::atomic<std::uint64_t> lines{0}, largest{0};
      visit_all(files.splits(), workers, [&](std::size_t i) {
        files.visit(i, [&](const text_split& split) {
          EXPECT_EQ(split.from.offset % 100, 0u);
          lines += static_cast<std::uint64_t>(std::ranges::count(split.text, '\n'));
          for (std::uint64_t most = largest; most < split.text.size();) {
            largest.compare_exchange_weak(most, split.text.size());
          }
        });
      });
      EXPECT_EQ(lines, 2 * text.size() / 100);
      EXPECT_LE(largest, 4u << 20);
    }
  }
}

TEST_F(Streams, DamageIsNamedAndNobodyWaits) {
  const std::string text = oracle::random_text(5, 200000, 300);
  for (const char* const format : formats) {
    for (std::size_t at = 0; at < text.size(); at += 9000) {
      add_member(format, "whole", std::string_view(text).substr(at, 9000));
    }
    const std::string bytes = bytes_of("whole");
    fs::remove(path("whole"));
    for (int k = 1; k < 8; ++k) {
      const std::size_t at = bytes.size() / 8 * static_cast<std::size_t>(k);
      std::string changed = bytes;
      for (std::size_t i = at; i < at + 40; ++i) changed[i] ^= '\x55';
      const std::string bad = write("bad", changed);
      const std::string cut = write("cut", std::string_view(bytes).substr(0, at));
      for (const unsigned workers : numbers_of_workers) {
        EXPECT_THAT(error_of([&] { (void)read(bad, workers, 1000); }),
                    testing::HasSubstr(std::string("bad: damaged ") + name_of(format) + " data"));
        EXPECT_THAT(error_of([&] { (void)read(cut, workers, 1000); }),
                    testing::HasSubstr(std::string("cut: truncated ") + name_of(format) + " data"));
      }
    }
  }
}

TEST_F(Streams, FirstOfSeveralFailuresIsThrown) {
  const std::string text = oracle::random_text(5, 100000, 300);
  for (const char* const format : formats) {
    for (std::size_t at = 0; at < text.size(); at += 3000) {
      add_member(format, format, std::string_view(text).substr(at, 3000));
    }
    append(format, "damage");
    for (const unsigned workers : numbers_of_workers) {
      for (const std::uint64_t first : {0, 5000, 77777}) {
        text_files files({path(format)}, {.split = 300});
        std::atomic<std::uint64_t> expected{~std::uint64_t{0}};
        try {
          visit_all(files.splits(), workers, [&](std::size_t i) {
            files.visit(i, [&](const text_split& split) {
              if (split.from.offset < first) return;
              for (std::uint64_t least = expected; split.from.offset < least;) {
                expected.compare_exchange_weak(least, split.from.offset);
              }
              throw std::runtime_error(std::to_string(split.from.offset));
            });
          });
          FAIL() << "no exception";
        } catch (const std::runtime_error& e) {
          EXPECT_EQ(e.what(), std::to_string(expected)) << format << ' ' << workers;
        }
      }
    }
  }
}

/// Random text in random members, whole or damaged, against the text and against one reader.
TEST_F(Streams, RandomFilesAreReadAsByOne) {
  const std::uint64_t seed = support::chosen_seed();
  SCOPED_TRACE(testing::Message() << "CREEK_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < (support::few_cases ? 20 : 60); ++round) {
    const char* const format = formats[random() % formats.size()];
    std::string text = oracle::random_text(random(), random() % 60000, 1 + random() % 300);
    if (random() % 4 == 0) text += std::string(random() % 100000, 'w');
    const std::string name = path("file");
    fs::remove(name);
    const std::size_t longest = 1 + random() % (random() % 2 ? 40000 : 3000);
    for (std::size_t at = 0; at < text.size() || at == 0;) {
      const std::size_t size = std::min<std::size_t>(text.size() - at, random() % (longest + 1));
      add_member(format, "file", std::string_view(text).substr(at, size));
      at += std::max<std::size_t>(size, text.empty() ? 1 : 0);
    }
    const bool damaged = random() % 3 == 0;
    if (damaged) {
      std::fstream file(name, std::ios::binary | std::ios::in | std::ios::out);
      const auto size = static_cast<std::uint64_t>(fs::file_size(name));
      file.seekp(static_cast<std::streamoff>(10 + random() % (size - 10)));
      file.put(static_cast<char>(random()));
      file.close();
      if (random() % 3 == 0) fs::resize_file(name, 10 + random() % (size - 10));
      if (random() % 3 == 0)
        append("file", std::string(random() % 20, static_cast<char>(random())));
    }
    const auto units = random() % 2 ? text_units::words : text_units::lines;
    const std::size_t split = 1 + random() % 5000;
    const std::size_t stride = random() % 3 == 0 ? 1 + random() % 300 : 0;
    text_files::settings chosen{.split = split, .units = units};
    if (stride != 0) {
      chosen.layout = [stride](const std::string&, std::string_view) {
        return record_layout{.stride = stride, .used = stride};
      };
    }
    std::string alone;
    const std::string why = error_of([&] {
      text_files files({name}, chosen);
      for (std::size_t i = 0; i < files.splits(); ++i) {
        files.visit_alone(i, [&](const text_split& split) { alone += split.text; });
      }
    });
    if (!damaged && stride == 0) {
      ASSERT_EQ(why, "no error");
      ASSERT_EQ(alone, text) << round << ' ' << format;
    }
    for (const unsigned workers : numbers_of_workers) {
      std::string together;
      const std::string failure = error_of([&] {
        for (const seen_piece& piece : pieces_of(name, workers, chosen)) {
          EXPECT_EQ(piece.offset, together.size());
          EXPECT_TRUE(stride == 0 || piece.text.size() % stride == 0);
          together += piece.text;
        }
      });
      EXPECT_EQ(failure, why) << round << ' ' << format << ' ' << workers;
      if (why == "no error") {
        EXPECT_EQ(together, alone) << round << ' ' << format << ' ' << workers;
      }
    }
  }
}

TEST_F(Streams, BytesAfterGzipMembersAreTreatedAsByGzip) {
  if (support::run_in_shell("gzip --version").code != 0) GTEST_SKIP() << "gzip is missing";
  using namespace std::string_view_literals;
  for (const std::string_view after :
       {""sv, "\0"sv, "\0\0\0\0"sv, "garbage"sv, "\0garbage"sv, "\x1F"sv, "\x1F\x8B"sv,
        "\x1F\x8B\x08"sv, "\x1F\x8B\x08garbage that is longer than a header"sv, "\x1Fgarbage"sv,
        "\0\x1F\x8B\x08\0\0\0\0\0\0\3"sv, "\x8B\x1F"sv, "\n"sv}) {
    const std::string name = path("packed");
    fs::remove(name);
    compress("packed", "one ");
    compress("packed", "two\n");
    append("packed", after);
    const auto by_gzip = support::run_in_shell("gzip -dc " + name + " 2>/dev/null");
    constexpr int warning = 2;
    const bool whole = by_gzip.code == 0 || by_gzip.code == warning;
    const std::string expected = whole ? by_gzip.output : "failed";
    for (const unsigned workers : numbers_of_workers) {
      for (const std::size_t split : {1, 1 << 20}) {
        std::string text = "failed";
        const std::string why = error_of([&] { text = read(name, workers, split); });
        EXPECT_EQ(text, expected) << testing::PrintToString(after) << ": " << why;
      }
    }
  }
}

}  // namespace
}  // namespace creek::mapreduce
