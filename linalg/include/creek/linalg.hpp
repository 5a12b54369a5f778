// SPDX-License-Identifier: Apache-2.0
// Includes all headers of dense linear algebra; the guide is docs/linalg.md.
#pragma once

#include <creek/linalg/batch.hpp>
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/blas_library.hpp>
#include <creek/linalg/by_blocks.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/condition.hpp>
#include <creek/linalg/eigen.hpp>
#include <creek/linalg/generate.hpp>
#include <creek/linalg/graph_info.hpp>
#include <creek/linalg/inverse.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/matrix.hpp>
#include <creek/linalg/matrix_file.hpp>
#include <creek/linalg/partition.hpp>
#include <creek/linalg/qr.hpp>
#include <creek/linalg/refine.hpp>
#include <creek/linalg/residual.hpp>
#include <creek/linalg/svd.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/linalg/tile_lu.hpp>
#include <creek/linalg/tile_matrix.hpp>
#include <creek/linalg/tile_qr.hpp>
