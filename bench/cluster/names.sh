# Names that the scripts of the emulated cluster share. A machine has each network namespace only once.
state=${QUADRILLE_CLUSTER_STATE:-/tmp/quadrille-cluster.$(id -u)}
prefix=quadrille-n
switch=quadrille-switch
