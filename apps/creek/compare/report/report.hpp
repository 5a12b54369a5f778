// SPDX-License-Identifier: Apache-2.0
// Results of a comparison, as text, as JSON and as a drawing.
#pragma once

#include <string>
#include <vector>

#include "compare/setup.hpp"
#include "compare/study.hpp"

namespace creek::tool::compare {

/// Checks before the work that all traces can be written. Throws creek::error if one cannot.
void try_traces(const setup& given);

void print_text(const setup& given, const std::vector<study>& studies);
std::string to_json(const setup& given, const std::vector<study>& studies);
/// Returns the drawing as an SVG document.
std::string draw(const setup& given, const std::vector<study>& studies);

/// Returns a metric in words, with its unit: "CPU, s".
std::string title_of(metric what, const study& of);
/// Returns why there are no joules, once for all runs, or an empty text if there are.
std::string why_no_energy(const study& of);
/// Returns "measured by rapl" or the like, or an empty text without joules.
std::string energy_source(const study& of);

}  // namespace creek::tool::compare
