# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe of creek: builds the source tree that it lies in, with the components chosen by options."""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps

# What each component needs: other components, and packages of Conan Center.
COMPONENTS = {
    "core": ([], ["boost/1.84.0", "fmt/9.1.0"]),
    "tasking": (["core"], ["highway/1.1.0", "hwloc/2.10.0"]),
    "tbb": (["tasking"], ["onetbb/2021.10.0"]),
    "scc": (["tasking"], ["nlohmann_json/3.11.3"]),
    "mapreduce": (["tasking"], ["bzip2/1.0.8", "xxhash/0.8.2", "xz_utils/5.4.5", "zlib/1.3.1", "zstd/1.5.5"]),
    "linalg": (["tasking"], []),
    "power": (["core"], []),
}
OPTIONAL = [name for name in COMPONENTS if name not in ("core", "tasking")]


class creek(ConanFile):
    name = "creek"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Programming many cores without counting on cache coherence"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], **{name: [True, False] for name in OPTIONAL}}
    default_options = {"shared": False, **{name: False for name in OPTIONAL}}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "cmake/*", "core/*", "tasking/*",
                        "backends/*", "mapreduce/*", "linalg/*", "power/*", "docs/*", "examples/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def components(self):
        return ["core", "tasking", *(name for name in OPTIONAL if self.options.get_safe(name))]

    def requirements(self):
        for component in self.components():
            for package in COMPONENTS[component][1]:
                self.requires(package)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")
        self.tool_requires("pkgconf/2.1.0")

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch != "x86_64":
            raise ConanInvalidConfiguration("creek runs on x86-64 Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CREEK_COMPONENTS"] = ";".join(self.components())
        for part in ("APPS", "TESTS", "BENCH"):
            toolchain.cache_variables[f"CREEK_BUILD_{part}"] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # creek's own CMake package and .pc modules say what to link.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "creek"))
        self.cpp_info.libs = [f"creek_{name}" for name in reversed(self.components())]
