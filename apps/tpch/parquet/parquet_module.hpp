// SPDX-License-Identifier: Apache-2.0
// Loads the reader of Parquet files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parquet_reader.hpp"

namespace creek::tpch {

/// Opens the Parquet file `name`, whose content is `bytes`, which must outlive the reader. The
/// module is creek_parquet.so beside the program, or in lib/creek as it is installed. Throws
/// creek::error if the module is missing (the message says how to get it) or cannot be loaded;
/// another std::exception if the module throws it. Any thread.
[[nodiscard]] std::unique_ptr<parquet_reader> open_parquet(const std::string& name,
                                                           std::string_view bytes);

}  // namespace creek::tpch
