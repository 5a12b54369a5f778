// SPDX-License-Identifier: Apache-2.0
// MapReduce on creek's tasks: jobs, inputs, run(). See docs/mapreduce.md.
#pragma once

#include <creek/mapreduce/bitmap_files.hpp>
#include <creek/mapreduce/colour_histogram.hpp>
#include <creek/mapreduce/csv_columns.hpp>
#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/files.hpp>
#include <creek/mapreduce/fixed_records.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/inverted_index.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/k_means.hpp>
#include <creek/mapreduce/line_filter.hpp>
#include <creek/mapreduce/line_fit.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/rounds.hpp>
#include <creek/mapreduce/run.hpp>
#include <creek/mapreduce/string_match.hpp>
#include <creek/mapreduce/word_count.hpp>
