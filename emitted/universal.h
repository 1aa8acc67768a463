/* A table of proven schedules for any nodes, from which a program chooses when it runs (//emitted:universal). */
#ifndef QUADRILLE_EMITTED_UNIVERSAL_H_
#define QUADRILLE_EMITTED_UNIVERSAL_H_

#include <stddef.h>

struct quadrille_universal {
  const char* collective;     /* its name, as in quadrille_info */
  int groups;                 /* 1, or 2 for intercommunicators */
  const char* name;           /* the algorithm and its options, such as "tuna:radix=8" */
  const unsigned char* bytes; /* for quadrille_load_memory, as is `length` */
  size_t length;
};

extern const struct quadrille_universal quadrille_universal[];
extern const int quadrille_universal_count;

#endif /* QUADRILLE_EMITTED_UNIVERSAL_H_ */
