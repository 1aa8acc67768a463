# Quadrille for Spack 1.0 and later. In the sources, `spack dev-build quadrille` builds it by the Makefile. With packages.yaml
# beside this repository, or after `spack external find quadrille`, Spack takes an installation that is there.
import re

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Quadrille(MakefilePackage):
    """Communication schedules for MPI collectives, proven for all sizes. A preload library serves unchanged programs by the
    schedules that are faster than the MPI library's own."""

    license("BSD-3-Clause")
    version("@VERSION@")
    variant("commands", default=False, description="also the commands that make, check and prove schedules")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+commands")
    depends_on("gmake", type="build")
    depends_on("mpi")
    depends_on("cli11", when="+commands")
    depends_on("fmt", when="+commands")
    depends_on("nlohmann-json", when="+commands")
    depends_on("z3", when="+commands")

    executables = ["^quadrille$"]

    @classmethod
    def determine_version(cls, exe):
        said = Executable(exe)("--version", output=str, error=str)
        match = re.match(r"quadrille (\S+)", said)
        return match.group(1) if match else None

    @property
    def build_targets(self):
        mpi = "MPICC=" + self.spec["mpi"].mpicc
        return [mpi, "libraries", "commands"] if self.spec.satisfies("+commands") else [mpi, "libraries"]

    @property
    def install_targets(self):
        return ["MPICC=" + self.spec["mpi"].mpicc, "PREFIX=" + self.prefix, "install"]

    @property
    def headers(self):
        return find_headers("quadrille", root=self.prefix.include, recursive=True)

    @property
    def libs(self):
        return find_libraries(["libquadrille_openmpi", "libquadrille_mpich"], root=self.prefix, recursive=True)

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)
