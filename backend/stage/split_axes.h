/* Axes that are read as several: a tensor between stages whose axis a reader walks by two or more
 * dimensions, heads and what is within a head, gets an axis for each of them, and so do the stages
 * that make it. Then a pipeline can run along the outer one. Values and the order of sums stay. */
#ifndef SAMBA_BACKEND_STAGE_SPLIT_AXES_H
#define SAMBA_BACKEND_STAGE_SPLIT_AXES_H

#include "backend/stage/stage.h"

/* Splits all axes that can be. Arguments that the stages read through a dimension that is split are
 * read in another shape: tensors are appended that alias them. Tensors and stages keep their
 * numbers; mappings are taken to be those of the stages as they are afterwards. */
void sambaStageGraphSplitAxes(SambaStageGraph *graph);

#endif
