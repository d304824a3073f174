#ifndef CERRAND_MEMORY_H
#define CERRAND_MEMORY_H

/// At most so many separate pools for what threads allocate, where the C library keeps such (glibc does).
/// 1 when it was set, 0 when it could not be, -1 when there is nothing to set.
int errand_limit_arenas(int most);

#endif
