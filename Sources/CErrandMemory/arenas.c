#include "CErrandMemory.h"

#ifdef __GLIBC__
#include <malloc.h>

int errand_limit_arenas(int most) { return mallopt(M_ARENA_MAX, most); }
#else
int errand_limit_arenas(int most) {
  (void)most;
  return -1;
}
#endif
