// SPDX-License-Identifier: Apache-2.0
// The text of all input files in one piece of memory, to be cut evenly.
#pragma once

#include <creek/mapreduce/inputs/files.hpp>
#include <string>

namespace creek::tool {

/// Reads everything, in the input's order, with white space between two files. Throws what the
/// input throws.
[[nodiscard]] inline std::string whole_text(mapreduce::text_files& files) {
  std::string all;
  all.reserve(files.bytes() + files.size());
  for (std::size_t i = 0; i < files.splits(); ++i) {
    files.visit(i, [&](const mapreduce::text_split& split) {
      if (!all.empty() && !mapreduce::is_space(all.back())) all += '\n';
      all += split.text;
    });
  }
  return all;
}

}  // namespace creek::tool
