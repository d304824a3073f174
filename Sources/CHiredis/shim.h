#ifndef ERRAND_CHIREDIS_SHIM_H
#define ERRAND_CHIREDIS_SHIM_H

#if !__has_include(<hiredis/hiredis.h>)
#error "hiredis headers not found: apt-get install libhiredis-dev (Debian, Ubuntu) or brew install hiredis (macOS)"
#endif
#include <hiredis/hiredis.h>

#endif
