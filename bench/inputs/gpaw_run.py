"""Silicon with GPAW: plane waves, then a grid, with k-points and domains over the ranks. Prints energies and forces with all digits.

FFTW estimates, since plans that it measures differ from run to run, and the last bits with them.
"""
from ase.build import bulk, molecule
from gpaw import GPAW, PW
from gpaw.fftw import ESTIMATE
from gpaw.mpi import world

silicon = bulk("Si", "diamond", 5.43)
silicon.rattle(0.05, seed=1)
water = molecule("H2O", vacuum=2.5)
for atoms, options in (
    (silicon, {"mode": PW(150, fftwflags=ESTIMATE), "kpts": (2, 2, 1)}),
    (water, {"mode": "fd", "h": 0.3, "nbands": 6}),
):
    atoms.calc = GPAW(txt=None, convergence={"density": 1e-3, "eigenstates": 1e-4}, **options)
    energy, forces, density = atoms.get_potential_energy(), atoms.get_forces(), atoms.calc.get_pseudo_density()
    if world.rank == 0:
        print(repr(energy), *(repr(value) for value in forces.ravel()), repr(float((density**2).sum())))
