#!/bin/bash
# bench/run.sh: all measurements, worst first to be disturbed. Exits non-zero where a figure is missed.
cd "$(dirname "$0")" || exit
missed=0
./instructions.sh || missed=1
./check.sh || missed=1
./cluster.sh || missed=1
exit $missed
