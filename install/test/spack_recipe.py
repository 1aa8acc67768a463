"""spack_recipe.py RECIPE PREFIX MPICC: runs a recipe with stand-ins for Spack's API, and refuses names that Spack lacks.
Prints the words behind `make` that build and install.

EXPORTED has names that spack.package of Spack 1.0 exports, as far as such recipes use them. ATTRIBUTES has what its
packages may define, and CHANGES the methods of EnvironmentModifications. Exit codes: 0 right, 1 wrong."""
import ast
import builtins
import subprocess
import sys
import types

EXPORTED = """InstallError EnvironmentModifications Executable PackageBase ProcessError Version build_system conflicts depends_on
extends filter_file find find_headers find_libraries install install_tree join_path license maintainers mkdirp patch provides
requires resource run_after run_before ver variant version when which working_dir""".split()
ATTRIBUTES = """build build_targets determine_variants determine_version executables has_code headers homepage install install_targets
libs list_url maintainers setup_build_environment setup_dependent_build_environment setup_dependent_run_environment setup_run_environment test url
git phases""".split()
CHANGES = "append_flags append_path deprioritize_system_paths prepend_path prune_duplicate_paths remove_path set unset".split()


def names(tree):
    """Returns the names that the recipe reads but does not define, without builtins."""
    defined = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            defined.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)} - defined


class Changes:
    """Records what a recipe does to an environment."""

    def __init__(self):
        self.made = []

    def __getattr__(self, name):
        assert name in CHANGES, f"EnvironmentModifications has no {name}"
        return lambda *arguments: self.made.append((name, *map(str, arguments)))


class Path(str):
    def __getattr__(self, name):
        return Path(f"{self}/{name}")


class Spec:
    """A stand-in for the package's specification, whose MPI library has this compiler."""

    def __init__(self, mpicc):
        self.mpicc = mpicc

    def __getitem__(self, name):
        return {"mpi": self}[name]

    def satisfies(self, text):
        return {"+commands": False}[text]


def stand_ins():
    """Makes stand-ins for the modules that a recipe imports. Returns that for spack.package."""
    package = types.ModuleType("spack.package")
    for name in EXPORTED:
        setattr(package, name, lambda *arguments, **options: None)
    package.versions = []
    package.version = lambda text, **options: package.versions.append(text)
    package.find_headers = package.find_libraries = lambda names, root, recursive: (names, str(root))
    package.Executable = lambda path: lambda *arguments, output, error: subprocess.run(
        [path, *arguments], check=True, capture_output=True, text=True
    ).stdout
    package.__all__ = EXPORTED
    makefile = types.ModuleType("spack_repo.builtin.build_systems.makefile")
    makefile.MakefilePackage = type("MakefilePackage", (), {})
    sys.modules.update({"spack": types.ModuleType("spack"), package.__name__: package, makefile.__name__: makefile})
    for name in ["spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"]:
        sys.modules[name] = types.ModuleType(name)
    return package


def check(path, prefix, mpicc):
    with open(path) as file:
        tree = ast.parse(file.read(), path)
    unknown = names(tree) - set(EXPORTED)
    assert not unknown, f"names that Spack does not have: {unknown}"
    package = stand_ins()
    scope = {"__name__": "recipe"}
    exec(compile(tree, path, "exec"), scope)
    quadrille = scope["Quadrille"]
    others = {n for n in vars(quadrille) if not n.startswith("__")} - set(ATTRIBUTES)
    assert not others, f"no attributes of Spack's packages: {others}"
    assert package.versions == [quadrille.determine_version(f"{prefix}/bin/quadrille")], package.versions
    one, changes = quadrille(), Changes()
    one.prefix, one.spec = Path(prefix), Spec(mpicc)
    one.setup_run_environment(changes)
    assert changes.made == [("prepend_path", "LD_LIBRARY_PATH", f"{prefix}/lib")], changes.made
    assert one.headers == ("quadrille", f"{prefix}/include") and one.libs[1] == prefix
    print(*one.build_targets)
    print(*one.install_targets)


try:
    check(*sys.argv[1:])
except (AssertionError, AttributeError, KeyError, NameError, SyntaxError, TypeError) as error:
    print(f"{sys.argv[1]}: {error}")
    sys.exit(1)
