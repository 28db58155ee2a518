/* Random numbers in the order in which PyTorch's generator for the CPU gives them. */
#ifndef SAMBA_SUPPORT_TENSOR_RANDOM_GENERATOR_H
#define SAMBA_SUPPORT_TENSOR_RANDOM_GENERATOR_H

#include "samba/tensor.h"

/* Uniform in [0, 1) with 53 bits, from two draws. */
double sambaGeneratorUniform(SambaGenerator *generator);
/* Normal with mean 0 and deviation 1. Numbers come in pairs: the generator keeps the second one for
 * the next call, until it gets another seed. */
double sambaGeneratorNormal(SambaGenerator *generator);

#endif
