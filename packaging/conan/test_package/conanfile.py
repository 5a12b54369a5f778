# SPDX-License-Identifier: Apache-2.0
"""Builds and runs a program for each component of the package, and one for all of them."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class creek_test(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def layout(self):
        cmake_layout(self)

    def components(self):
        return list(self.dependencies["creek"].cpp_info.components)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # writes nothing into the source tree
        toolchain.cache_variables["COMPONENTS"] = ";".join(self.components())
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for program in [*self.components(), "all"]:
                self.run(os.path.join(self.cpp.build.bindir, f"use_{program}"), env="conanrun")
