/* Axes that are read as several: a tensor that stages make and whose axis a reader walks by two or
 * more dimensions, heads and what is within a head, or blocks of rows that are summed and the rows
 * of a block, gets an axis for each of them, and so do the stages that make it. Then a pipeline can
 * run along the outer one. Values and the order of sums stay. */
#ifndef SAMBA_BACKEND_STAGE_SPLIT_AXES_H
#define SAMBA_BACKEND_STAGE_SPLIT_AXES_H

#include "backend/stage/stage.h"

/* Rows of a block of rows, and of a slice of a pipeline over rows: an array takes as many at once.
 * Fewer points that are reduced together are a window. */
enum { SAMBA_BLOCK_ROWS = 16 };

/* Splits all axes that can be. Arguments that the stages read through a dimension that is split are
 * read in another shape: tensors are appended that alias them. Tensors and stages keep their
 * numbers; mappings are taken to be those of the stages as they are afterwards. */
void sambaStageGraphSplitAxes(SambaStageGraph *graph);

#endif
