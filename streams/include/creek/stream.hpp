// SPDX-License-Identifier: Apache-2.0
// Everything of creek::stream: networks of processes and channels.
#pragma once

#include <creek/stream/network.hpp>
#include <creek/stream/port.hpp>
