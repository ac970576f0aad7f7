/* SPDX-License-Identifier: MIT */
#define DEFINE_LINKED_FUNCTIONS
#include "grad_functions.h"
