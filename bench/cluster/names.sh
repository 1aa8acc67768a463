# The names that the scripts of the emulated cluster share. A machine has each namespace once.
state=${QUADRILLE_CLUSTER_STATE:-/tmp/quadrille-cluster.$(id -u)}
prefix=quadrille-n
switch=quadrille-switch
