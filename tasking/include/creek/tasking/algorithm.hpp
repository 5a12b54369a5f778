// SPDX-License-Identifier: Apache-2.0
// Parallel algorithms by the names of the standard library. They are function objects: argument-
// dependent lookup does not find them, and unqualified calls with arguments of std do not become
// ambiguous.
#pragma once

#include <creek/tasking/algorithms/count_if.hpp>
#include <creek/tasking/algorithms/find_if.hpp>
#include <creek/tasking/algorithms/for_each.hpp>
#include <creek/tasking/algorithms/merge.hpp>
#include <creek/tasking/algorithms/partition.hpp>
#include <creek/tasking/algorithms/scan.hpp>
#include <creek/tasking/algorithms/stable_sort.hpp>
#include <creek/tasking/algorithms/transform.hpp>
#include <creek/tasking/algorithms/transform_reduce.hpp>
#include <creek/tasking/algorithms/unique.hpp>
