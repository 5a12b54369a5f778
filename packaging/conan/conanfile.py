# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe of creek: builds the source tree that contains it, with the components that the options select."""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir
from conan.tools.gnu import PkgConfigDeps

# For each component: the components it needs, and what it links of which package of Conan Center.
COMPONENTS = {
    "core": ([], {"boost::context": "boost/1.84.0", "fmt::fmt": "fmt/9.1.0"}),
    "tasking": (["core"], {"highway::hwy_contrib": "highway/1.1.0", "hwloc::hwloc": "hwloc/[>=2.12.2 <3]",
                            "xxhash::libxxhash": "xxhash/0.8.2"}),
    "stream": (["tasking"], {}),
    "tbb": (["tasking"], {"onetbb::libtbb": "onetbb/[>=2021.10 <2024]"}),
    "scc": (["tasking"], {"nlohmann_json::nlohmann_json": "nlohmann_json/3.11.3"}),
    "mpi": (["core"], {}),
    "mapreduce": (["tasking"], {"bzip2::bzip2": "bzip2/1.0.8", "lz4::lz4": "lz4/[>=1.9.4 <2]",
                                "xz_utils::xz_utils": "xz_utils/[>=5.4.5 <6]", "zlib::zlib": "zlib/[>=1.2.11 <2]",
                                "zstd::zstdlib": "zstd/[>=1.5 <1.6]"}),
    "text": (["mapreduce"], {"re2::re2": "re2/20230301", "simdjson::simdjson": "simdjson/3.2.0",
                             "utf8proc::utf8proc": "utf8proc/2.8.0"}),
    "linalg": (["tasking"], {}),
    "power": (["core"], {}),
}
OPTIONAL = [name for name in COMPONENTS if name not in ("core", "tasking")]
# The linker must keep these, though a program may find the backend by name only.
ENTRIES = {"tbb": "creek_backend_tbb", "scc": "creek_backend_scc"}


class creek(ConanFile):
    name = "creek"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Programming many cores without counting on cache coherence"
    topics = ("parallelism", "task-scheduler", "mapreduce", "linear-algebra")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], **{name: [True, False] for name in OPTIONAL}}
    default_options = {"shared": False, **{name: False for name in OPTIONAL}}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "core/*", "tasking/*", "streams/*", "backends/*", "mapreduce/*",
                        "text/*", "linalg/*", "power/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def components(self):
        chosen = [name for name in OPTIONAL if self.options.get_safe(name)]
        needed = {name for each in chosen for name in COMPONENTS[each][0]}
        return [name for name in COMPONENTS if name in {"core", "tasking", *chosen, *needed}]

    def requirements(self):
        for component in self.components():
            for package in COMPONENTS[component][1].values():
                if package.startswith("hwloc/"):
                    # creek loads the shared library at run time and links nothing of it.
                    self.requires(package, libs=False, run=True, options={"shared": True})
                else:
                    self.requires(package)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")
        self.tool_requires("pkgconf/[>=2.1 <3]")

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch != "x86_64":
            raise ConanInvalidConfiguration("creek runs on x86-64 Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CREEK_COMPONENTS"] = ";".join(self.components())
        # The modules would be for the MPI of the machine that builds.
        toolchain.cache_variables["CREEK_WITH_MPI"] = False
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
        cmake = CMake(self)
        cmake.install(component="libraries")
        cmake.install(component="development")
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # CMakeDeps and PkgConfigDeps write these files for consumers, from package_info().
        for folder in ("share", os.path.join("lib", "cmake"), os.path.join("lib", "pkgconfig")):
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_config_version_compat", "SameMinorVersion")
        for name in self.components():
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", f"creek::{name}")
            component.set_property("pkg_config_name", f"creek-{name}")
            component.libs = [f"creek_{name}"]
            component.system_libs = ["pthread"]
            component.requires = [*COMPONENTS[name][0], *COMPONENTS[name][1]]
            if not self.options.shared:
                # The same flags as on the exported CMake targets; see _creek_library() in cmake/creek_module.cmake.
                flags = ["-Wl,-z,nodelete", "-Wl,--gc-sections"]
                if name in ENTRIES:
                    flags.append(f"-Wl,--undefined={ENTRIES[name]}")
                component.exelinkflags = flags
                component.sharedlinkflags = flags
