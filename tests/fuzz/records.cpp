// SPDX-License-Identifier: Apache-2.0
// Fixed records: all bytes, in order, no record cut; refused exactly if the file ends inside one.
#include <algorithm>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce/inputs/fixed_records.hpp>
#include <creek/tasking/parallel_for.hpp>
#include <mutex>
#include <utility>
#include <vector>

#include "harness.hpp"

namespace creek::fuzz {
namespace {

using element = std::uint16_t;

std::string content_of(const std::string& name, std::size_t elements, std::size_t split,
                       bool several) {
  mapreduce::fixed_records<element> files({name}, elements, {.split = split});
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::string>> found;
  workers(several).run([&] {
    parallel_for(std::size_t{0}, files.splits(), [&](std::size_t i) {
      files.visit(i, [&](const mapreduce::record_span<element>& records) {
        expect(!records.empty() && records.size() % elements == 0, "a record is cut");
        const std::lock_guard lock(mutex);
        found.emplace_back(
            records.from.offset,
            std::string(reinterpret_cast<const char*>(records.data()), records.size_bytes()));
      });
    });
  });
  std::ranges::sort(found);
  std::string content;
  for (const auto& [offset, bytes] : found) {
    expect(offset == content.size(), "records are missing, or there twice");
    content += bytes;
  }
  return content;
}

}  // namespace
}  // namespace creek::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace creek;
  fuzz::input from(data, size);
  const bool several = from.below(2) != 0;
  const std::size_t elements = 1 + from.below(40);
  const std::size_t split = from.piece_bytes();
  const std::string_view bytes = from.rest();
  if (fuzz::looks_compressed(bytes)) return -1;
  const fuzz::memory_file file(bytes);
  std::string content;
  const auto refused = fuzz::refusal_of(
      file.name(), [&] { content = fuzz::content_of(file.name(), elements, split, several); });
  const bool whole = bytes.size() % (elements * sizeof(fuzz::element)) == 0;
  fuzz::expect(refused.has_value() == !whole, "refused: " + (refused ? refused->why : "not"));
  if (refused) {
    fuzz::expect(refused->code == data_fault::truncated, refused->why);
  } else {
    fuzz::expect(content == bytes, "other records");
  }
  return 0;
}
