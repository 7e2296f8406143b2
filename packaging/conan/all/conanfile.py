# Untested: Conan 2.34 reads and exports it, and has not built it.
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, get, rename

required_conan_version = ">=2.0"


class ClockscopeConan(ConanFile):
    name = "clockscope"
    description = "Timestamps at the cost of the processor's counter, with an error bound, for C and C++"
    license = "MIT OR Apache-2.0"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "https://github.com/clockscope/clockscope"
    topics = ("clock", "timestamp", "tsc", "monotonic")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def configure(self):
        # The interface is C's, and the code is Rust's: no C++ runtime is in it.
        self.settings.rm_safe("compiler.libcxx")
        self.settings.rm_safe("compiler.cppstd")

    def package_id(self):
        # There is one build, a release.
        del self.info.settings.build_type
        del self.info.settings.compiler

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("the library has been tested on Linux on x86_64 and armv8 alone")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def build(self):
        # cargo has to be installed: Conan's packages of Rust's compiler are none of its own index.
        target = os.path.join(self.build_folder, "target")
        self.run(
            f'cargo build --release --locked --package clockscope-capi --target-dir "{target}"',
            cwd=self.source_folder,
        )

    def package(self):
        built = os.path.join(self.build_folder, "target", "release")
        lib = os.path.join(self.package_folder, "lib")
        include = os.path.join(self.source_folder, "crates", "clockscope-capi", "include")
        copy(self, "LICENSE-*", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*", include, os.path.join(self.package_folder, "include"))
        if self.options.shared:
            copy(self, "libclockscope_c.so", built, lib)
            # Its SONAME, which -lclockscope reaches by a link.
            rename(self, os.path.join(lib, "libclockscope_c.so"), os.path.join(lib, "libclockscope.so.0"))
            os.symlink("libclockscope.so.0", os.path.join(lib, "libclockscope.so"))
        else:
            copy(self, "libclockscope_c.a", built, lib)
            rename(self, os.path.join(lib, "libclockscope_c.a"), os.path.join(lib, "libclockscope.a"))

    def package_info(self):
        self.cpp_info.libs = ["clockscope"]
        if not self.options.shared:
            self.cpp_info.system_libs = ["pthread", "dl", "m"]
