// SPDX-License-Identifier: Apache-2.0
// Words, matches and JSON in the text of MapReduce jobs. See docs/mapreduce.md.
#pragma once

#include <creek/text/json_lines.hpp>
#include <creek/text/pattern.hpp>
#include <creek/text/unicode_words.hpp>
