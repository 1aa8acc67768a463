# What the scripts of the emulated cluster agree on. Namespaces exist once a machine, so their names stand here.
state=${QUADRILLE_CLUSTER_STATE:-/tmp/quadrille-cluster.$(id -u)}
prefix=quadrille-n
switch=quadrille-switch
