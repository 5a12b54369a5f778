// SPDX-License-Identifier: Apache-2.0
// Everything of creek::stream: networks of processes and channels, pipelines.
#pragma once

#include <creek/stream/coroutine.hpp>
#include <creek/stream/descriptors.hpp>
#include <creek/stream/network.hpp>
#include <creek/stream/pipeline.hpp>
#include <creek/stream/port.hpp>
#include <creek/stream/processes.hpp>
#include <creek/stream/transfer_bytes.hpp>
