// SPDX-License-Identifier: Apache-2.0
// Results of a comparison, as text, as JSON and as a drawing.
#pragma once

#include <string>
#include <vector>

#include "setup.hpp"
#include "study.hpp"

namespace creek::tool::compare {

/// A name that cannot be written is to be known before the work, not after. Throws creek::error.
void try_traces(const setup& given);

void print_text(const setup& given, const std::vector<study>& studies);
std::string to_json(const setup& given, const std::vector<study>& studies);
/// An SVG document.
std::string draw(const setup& given, const std::vector<study>& studies);

/// A metric in words, with its unit: "CPU, s".
std::string title_of(metric what, const study& of);
/// Why there are no joules, once for all runs; empty where there are.
std::string why_no_energy(const study& of);
/// "measured by rapl" or the like; empty without joules.
std::string energy_source(const study& of);

}  // namespace creek::tool::compare
