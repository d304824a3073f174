#ifndef ERRAND_CFUZZER_H
#define ERRAND_CFUZZER_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's way in for programs that have a main of their own. scripts/fuzz links the library. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
