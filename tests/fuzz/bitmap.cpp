// SPDX-License-Identifier: Apache-2.0
// Bitmaps: the histogram equals that of a loop over the bytes, or the file is refused because the
// header is not that of such a bitmap or rows are missing.
#include <array>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce.hpp>

#include "harness.hpp"

namespace creek::fuzz {
namespace {

using histogram = std::array<std::uint64_t, 768>;
using creek::data_fault;

/// Returns a number in little-endian order.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  while (count-- != 0) value = value * 256 + static_cast<unsigned char>(bytes[at + count]);
  return value;
}

struct naive_result {
  data_fault fault{};  ///< 0: none
  histogram counts{};
};

naive_result count_naively(std::string_view file) {
  const auto refused = [](data_fault why) { return naive_result{why, {}}; };
  if (file.substr(0, 2) != "BM") return refused(data_fault::malformed);
  if (file.size() < 18) return refused(data_fault::truncated);
  const std::uint64_t header = number(file, 14, 4);
  if (header != 40 && header != 108 && header != 124) return refused(data_fault::unsupported);
  if (file.size() < 14 + header) return refused(data_fault::truncated);
  if (number(file, 28, 2) != 24 || number(file, 30, 4) != 0) {
    return refused(data_fault::unsupported);
  }
  const std::uint64_t first = number(file, 10, 4), width = number(file, 18, 4);
  std::uint64_t rows = number(file, 22, 4);
  if (rows > 0x8000'0000) rows = 0x1'0000'0000 - rows;
  if (width == 0 || width >= 0x8000'0000 || rows == 0 || rows == 0x8000'0000 ||
      number(file, 26, 2) != 1 || first < 14 + header) {
    return refused(data_fault::malformed);
  }
  const std::uint64_t padding = (4 - 3 * width % 4) % 4;
  naive_result result;
  std::uint64_t at = first;
  for (std::uint64_t row = 0; row < rows; ++row, at += padding) {
    for (std::uint64_t i = 0; i < 3 * width; ++i, ++at) {
      if (at >= file.size()) return refused(data_fault::truncated);
      ++result.counts[256 * (i % 3) + static_cast<unsigned char>(file[at])];
    }
  }
  return at > file.size() ? refused(data_fault::truncated) : result;
}

histogram count(const std::string& name, std::size_t split, bool several) {
  mapreduce::bitmap_files files({name}, {.split = split});
  histogram counts{};
  workers(several).run([&] {
    for (const auto& [key, seen] : run(mapreduce::colour_histogram{}, files)) counts[key] = seen;
  });
  return counts;
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek::fuzz;
  input from(data, size);
  const bool several = from.below(2) != 0;
  const std::size_t split = from.piece_bytes();
  if (looks_compressed(from.rest())) return -1;
  const memory_file file(from.rest());
  histogram counts{};
  const auto refused =
      refusal_of(file.name(), [&] { counts = count(file.name(), split, several); });
  const naive_result expected = count_naively(from.rest());
  expect(refused.has_value() == (expected.fault != data_fault{}),
         "refused: " + (refused ? refused->why : "not"));
  if (refused) {
    expect(refused->code == expected.fault, "for another reason: " + refused->why);
  } else {
    expect(counts == expected.counts, "other colours");
  }
  return 0;
}
