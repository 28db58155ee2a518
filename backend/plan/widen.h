/* Widening of a plan: steps that give more of the machine to what works nearly as long as the
 * slowest stage of a section, or let it pass its data sooner. A stage that begins late and works as
 * long as the slowest one ends the section late, and units that are all busy all the time queue
 * behind each other. The planner's model does not see that, so each step is a trial for whoever can
 * predict the section (backend/estimate/predict.h). */
#ifndef SAMBA_BACKEND_PLAN_WIDEN_H
#define SAMBA_BACKEND_PLAN_WIDEN_H

#include "backend/machine/machine.h"
#include "backend/stage/stage.h"

/* Changes the mappings of a planned graph by its step `index`; false when it has no more. given:
 * mappings of stages that are not to change have a dim_count other than 0. The result may not fit
 * the machine. */
bool sambaPlanWiden(SambaStageGraph *graph, const SambaMachine *machine, const SambaMapping *given,
                    uint32_t index);

#endif
