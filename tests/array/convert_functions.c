/* SPDX-License-Identifier: MIT */
#define DEFINE_LINKED_FUNCTIONS
#include "convert_functions.h"
