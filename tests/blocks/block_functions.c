/* SPDX-License-Identifier: MIT */
#define DEFINE_LINKED_FUNCTIONS
#include "block_functions.h"
