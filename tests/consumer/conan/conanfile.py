# SPDX-License-Identifier: Apache-2.0
"""Stands in for a package of Conan Center: the names by which that package is found, and the system's library.

conan_recipe.py exports it under the name and version of each package that creek's recipe requires.
"""

from conan import ConanFile

# For each package: the name of its CMake package, its own properties, and those of its components with their
# libraries, as in the recipes of Conan Center's index.
PACKAGES = {
    "boost": ("Boost", {}, {"context": ("Boost::context", "", ["boost_context"])}),
    "bzip2": ("BZip2", {"cmake_find_mode": "both"}, {"": ("BZip2::BZip2", "", ["bz2"])}),
    "fmt": ("fmt", {}, {"_fmt": ("fmt::fmt", "fmt", ["fmt"])}),
    "highway": ("highway", {}, {"hwy": ("", "libhwy", ["hwy"]),
                                "hwy_contrib": ("", "libhwy-contrib", ["hwy_contrib"])}),
    "hwloc": ("hwloc", {}, {"": ("", "hwloc", ["hwloc"])}),
    "lz4": ("lz4", {}, {"": ("LZ4::lz4_static", "liblz4", ["lz4"])}),
    "nlohmann_json": ("nlohmann_json", {}, {"": ("nlohmann_json::nlohmann_json", "nlohmann_json", [])}),
    "onetbb": ("TBB", {}, {"libtbb": ("TBB::tbb", "", ["tbb"])}),
    "re2": ("re2", {}, {"": ("re2::re2", "re2", ["re2"])}),
    "simdjson": ("simdjson", {}, {"": ("simdjson::simdjson", "simdjson", ["simdjson"])}),
    "utf8proc": ("utf8proc", {}, {"": ("utf8proc::utf8proc", "libutf8proc", ["utf8proc"])}),
    "xxhash": ("xxHash", {}, {"libxxhash": ("xxHash::xxhash", "libxxhash", ["xxhash"])}),
    "xz_utils": ("LibLZMA", {"cmake_find_mode": "both"}, {"": ("LibLZMA::LibLZMA", "liblzma", ["lzma"])}),
    "zlib": ("ZLIB", {"cmake_find_mode": "both"}, {"": ("ZLIB::ZLIB", "zlib", ["z"])}),
    "zstd": ("zstd", {}, {"zstdlib": ("zstd::libzstd_static", "libzstd", ["zstd"])}),
}


class stand_in(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    package_type = "library"

    def package_info(self):
        file_name, properties, components = PACKAGES[self.name]
        self.cpp_info.set_property("cmake_file_name", file_name)
        for name, value in properties.items():
            self.cpp_info.set_property(name, value)
        self.cpp_info.includedirs = self.cpp_info.libdirs = self.cpp_info.bindirs = []
        for component, (target, module, libraries) in components.items():
            info = self.cpp_info.components[component] if component else self.cpp_info
            info.includedirs = info.libdirs = info.bindirs = []
            info.system_libs = libraries
            if target:
                info.set_property("cmake_target_name", target)
            if module:
                info.set_property("pkg_config_name", module)
        if self.name == "highway":
            self.cpp_info.components["hwy_contrib"].requires = ["hwy"]
