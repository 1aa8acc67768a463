/* Schedules for any nodes, all proven, that a program chooses among when it runs (//emitted:universal). */
#ifndef QUADRILLE_EMITTED_UNIVERSAL_H_
#define QUADRILLE_EMITTED_UNIVERSAL_H_

#include <stddef.h>

struct quadrille_universal {
  const char* collective;     /* as quadrille_info has it */
  int groups;                 /* 2: for intercommunicators */
  const char* name;           /* the algorithm and what it was made with: "tuna:radix=8" */
  const unsigned char* bytes; /* for quadrille_load_memory */
  size_t length;
};

extern const struct quadrille_universal quadrille_universal[];
extern const int quadrille_universal_count;

#endif /* QUADRILLE_EMITTED_UNIVERSAL_H_ */
