# Quadrille for Spack 1.0 and later. Spack does not build it: the build needs Debian's packages. packages.yaml beside this
# repository says where it is installed, and `spack external find quadrille` finds it in PATH.
import re

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Quadrille(Package):
    """Communication schedules for MPI collectives, proven for all sizes. A preload library serves unchanged programs by the
    schedules that are faster than the MPI library's own."""

    has_code = False
    license("BSD-3-Clause")
    version("@VERSION@")

    executables = ["^quadrille$"]

    @classmethod
    def determine_version(cls, exe):
        said = Executable(exe)("--version", output=str, error=str)
        match = re.match(r"quadrille (\S+)", said)
        return match.group(1) if match else None

    @property
    def headers(self):
        return find_headers("quadrille", root=self.prefix.include, recursive=True)

    @property
    def libs(self):
        return find_libraries(["libquadrille_openmpi", "libquadrille_mpich"], root=self.prefix, recursive=True)

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)

    def install(self, spec, prefix):
        raise InstallError(
            "Spack does not build Quadrille: run ./dev install --prefix DIR in its sources, "
            "and spack external find --path DIR quadrille"
        )
