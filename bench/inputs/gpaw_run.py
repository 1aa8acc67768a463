"""Computes silicon with atomic orbitals and water on a grid, with GPAW. Prints energies and forces with all digits.

The ranks divide k-points and domains. There are no plane waves: even natively, their last bits differ between runs.
"""
from ase.build import bulk, molecule
from gpaw import GPAW
from gpaw.mpi import world

silicon = bulk("Si", "diamond", 5.43)
silicon.rattle(0.05, seed=1)
water = molecule("H2O", vacuum=2.5)
for atoms, options in (
    (silicon, {"mode": "lcao", "basis": "dzp", "h": 0.25, "kpts": (2, 2, 1)}),
    (water, {"mode": "fd", "h": 0.3, "nbands": 6}),
):
    atoms.calc = GPAW(txt=None, convergence={"density": 1e-3, "eigenstates": 1e-4}, **options)
    energy, forces, density = atoms.get_potential_energy(), atoms.get_forces(), atoms.calc.get_pseudo_density()
    if world.rank == 0:
        print(repr(energy), *(repr(value) for value in forces.ravel()), repr(float((density**2).sum())))
