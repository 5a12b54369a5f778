// SPDX-License-Identifier: Apache-2.0
// MapReduce on creek's tasks: jobs, inputs, run(). See docs/mapreduce.md.
#pragma once

#include <creek/mapreduce/dense.hpp>
#include <creek/mapreduce/failures.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/inputs/bitmap_files.hpp>
#include <creek/mapreduce/inputs/csv_columns.hpp>
#include <creek/mapreduce/inputs/csv_fields.hpp>
#include <creek/mapreduce/inputs/files.hpp>
#include <creek/mapreduce/inputs/fixed_records.hpp>
#include <creek/mapreduce/inputs/lines.hpp>
#include <creek/mapreduce/inputs/malformed_text.hpp>
#include <creek/mapreduce/inputs/several_inputs.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/jobs/colour_histogram.hpp>
#include <creek/mapreduce/jobs/inverted_index.hpp>
#include <creek/mapreduce/jobs/k_means.hpp>
#include <creek/mapreduce/jobs/line_filter.hpp>
#include <creek/mapreduce/jobs/line_fit.hpp>
#include <creek/mapreduce/jobs/string_match.hpp>
#include <creek/mapreduce/jobs/word_count.hpp>
#include <creek/mapreduce/options.hpp>
#include <creek/mapreduce/rounds.hpp>
#include <creek/mapreduce/run.hpp>
