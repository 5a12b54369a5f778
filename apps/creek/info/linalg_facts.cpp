// SPDX-License-Identifier: Apache-2.0
#include "linalg_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/blas_library.hpp>

namespace creek::tool {
namespace {

using json = json_value;

struct libraries {
  std::vector<linalg::blas_library> others;
  std::optional<linalg::blas_library> chosen;  // chosen by CREEK_BLAS
};

/// Returns the tile shape for each of LAPACK's letters for element types.
std::vector<std::pair<std::string, linalg::micro_tile_shape>> micro_tiles() {
  return {{"s", linalg::micro_tile<float>()},
          {"d", linalg::micro_tile<double>()},
          {"c", linalg::micro_tile<std::complex<float>>()},
          {"z", linalg::micro_tile<std::complex<double>>()}};
}

json blas_json(const linalg::blas_library& of) {
  return {{"name", of.name}, {"version", of.version}, {"kernel", of.kernel}, {"path", of.path}};
}

json to_json(const libraries& found) {
  json tiles, others = json::array();
  for (const auto& [type, shape] : micro_tiles()) tiles[type] = {shape.rows, shape.cols};
  for (const auto& each : found.others) others.push_back(blas_json(each));
  return {{"instructions", linalg::kernel_instructions()},
          {"tiles", tiles},
          {"other_blas", others},
          {"chosen_blas", found.chosen ? blas_json(*found.chosen) : json(nullptr)}};
}

std::string blas_text(const linalg::blas_library& of) {
  std::string text = of.name;
  if (!of.version.empty()) text += " " + of.version;
  if (!of.kernel.empty()) text += ", kernel " + of.kernel;
  return fmt::format("{} ({})", text, of.path);
}

std::string products_text(const libraries& found) {
  std::vector<std::string> tiles;
  for (const auto& [type, shape] : micro_tiles()) {
    tiles.push_back(fmt::format("{} {} x {}", type, shape.rows, shape.cols));
  }
  std::string text =
      fmt::format("{}, tiles of {}", linalg::kernel_instructions(), fmt::join(tiles, ", "));
  if (found.chosen) {
    text += fmt::format("\n{:11}whole ones by CREEK_BLAS: {}", "", blas_text(*found.chosen));
  }
  return text;
}

/// Returns a line per library; all but the first begin with blanks in place of the label.
std::string other_blas_text(const libraries& found) {
  std::vector<std::string> lines;
  for (const auto& each : found.others) lines.push_back(blas_text(each));
  if (lines.empty()) return "none found, none needed";
  return fmt::format("{}", fmt::join(lines, fmt::format("\n{:11}", "")));
}

}  // namespace

linalg_facts look_at_linalg() {
  const libraries found{linalg::other_blas_libraries(), linalg::blas_in_use()};
  return {to_json(found), products_text(found), other_blas_text(found)};
}

}  // namespace creek::tool
