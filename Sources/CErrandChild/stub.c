#include "CErrandChild.h"
