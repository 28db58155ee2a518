/* The inverse of the normal distribution. */
#ifndef SAMBA_SUPPORT_TENSOR_RANDOM_NORMAL_QUANTILE_H
#define SAMBA_SUPPORT_TENSOR_RANDOM_NORMAL_QUANTILE_H

/* The number below which a normal number with mean 0 and deviation 1 is with this probability,
 * which lies between 0 and 1. About 16 digits are right. */
double sambaNormalQuantile(double probability);

#endif
