/* What operators take by way of samba.stack and samba.unstack; see placed_values.h. */
#include "passes/section/placed_values.h"

#include "dialect/samba/graph.h"
#include "dialect/samba/phase.h"

/* Who is looked for; maker: null for any operator of the reader's phase. */
typedef struct Search {
  MlirOperation reader, maker;
  bool placed; /* a samba.stack or samba.unstack lies between the reader and what is looked at */
  bool found;
} Search;

static MlirValue lookAt(MlirValue value, void *user) {
  Search *search = user;
  MlirOperation operation = sambaDefiningOperation(value);
  if (mlirOperationIsNull(operation) || search->found)
    return value;

  bool placement = sambaOperationIsPlacement(operation), before = search->placed;
  if (placement || sambaOperationIsView(operation)) {
    search->placed |= placement;
    sambaMapInputs(operation, lookAt, search);
    search->placed = before;
  } else if (search->placed && sambaOperationIsOperator(operation)) {
    search->found = mlirOperationIsNull(search->maker)
                        ? sambaPhaseOf(operation) == sambaPhaseOf(search->reader)
                        : mlirOperationEqual(operation, search->maker);
  }
  return value;
}

bool sambaTakesPlaced(MlirOperation reader, MlirOperation maker) {
  Search search = {.reader = reader, .maker = maker};
  sambaMapInputs(reader, lookAt, &search);
  return search.found;
}

bool sambaTakesPlacedOfPhase(MlirOperation reader) {
  return sambaTakesPlaced(reader, (MlirOperation){NULL});
}

bool sambaBordersByPlaces(const MlirOperation *operators, uint32_t index) {
  if (!index || !sambaTakesPlacedOfPhase(operators[index]))
    return false;
  for (uint32_t i = index; i-- > 0;) {
    if (sambaTakesPlaced(operators[index], operators[i]))
      return true;
    if (!sambaTakesPlacedOfPhase(operators[i]))
      return i + 1 == index;
  }
  return false;
}
