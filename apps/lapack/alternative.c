// SPDX-License-Identifier: Apache-2.0
// A library without functions of its own: it names others.
typedef int no_function;
