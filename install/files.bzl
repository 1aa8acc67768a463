"""What is installed as it stands in the tree, for Bazel and the Makefile: the place, and the file as a label. A place that
ends with / keeps the paths of its files in the tree. So links between documents work."""

FILES = """
bin/quadrille //install:quadrille.sh
include/quadrille/quadrille.h //runtime:quadrille.h
lib/cmake/quadrille/quadrille-config.cmake //install:quadrille-config.cmake
lib/cmake/quadrille/quadrille-config-version.cmake //install:quadrille-config-version.cmake
share/bash-completion/completions/quadrille //install:completion.sh
share/doc/quadrille/ //:CHANGELOG.md //:LICENSE //:README.md //theory:README.md //theory:Theorem.v
share/doc/quadrille/ //:docs/algorithms.md //:docs/choosing.md //:docs/guide.md //:docs/language.md //:docs/measurements.md
share/doc/quadrille/ //:docs/papers.md //:docs/patterns.md //:docs/proofs.md //:docs/references.md //:docs/sites.md
share/doc/quadrille/ //:docs/pictures/allgather_ring_6.svg //:docs/pictures/alltoall_1_2_3.svg
share/doc/quadrille/ //examples/closure:closure.c //examples/fft:fft.c //examples/particles:particles.c //examples/transpose:transpose.c
share/doc/quadrille/ //examples/coupling:atmosphere.c //examples/coupling:coupling.h //examples/coupling:ocean.c
share/doc/quadrille/copyright //:LICENSE
share/modulefiles/quadrille/VERSION //install:modulefile
share/quadrille/spack/packages.yaml //install:spack/packages.yaml
share/quadrille/spack/spack_repo/quadrille/packages/quadrille/package.py //install:spack/package.py
share/quadrille/spack/spack_repo/quadrille/repo.yaml //install:spack/repo.yaml
"""
