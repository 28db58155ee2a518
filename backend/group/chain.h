/* The stages of a group while they are collected: an anchor, and elementwise stages behind and
 * beside it. See group.h for the rule. */
#ifndef SAMBA_BACKEND_GROUP_CHAIN_H
#define SAMBA_BACKEND_GROUP_CHAIN_H

#include "backend/machine/machine.h"
#include "backend/stage/stage.h"

enum { SAMBA_MAX_GROUP_OPERANDS = 32 };

typedef struct SambaDimMap { /* for each dimension of a stage the group dimension it is;
                              * SAMBA_NO_INDEX: extent 1, always 0
                              */
  uint32_t of[SAMBA_MAX_STAGE_DIMS];
} SambaDimMap;

typedef struct SambaChainReaders { /* of one tensor */
  uint32_t readers;                /* stages that read it */
  uint32_t writers;
} SambaChainReaders;

typedef struct SambaChain {
  const SambaStageGraph *graph;
  const SambaChainReaders *readers;
  uint32_t length;
  uint32_t *stages;
  SambaDimMap *dims;   /* of each: the anchor's dimensions */
  uint32_t *member_of; /* of each tensor: the stage of the chain that makes it; SAMBA_NO_INDEX:
                          none */
  uint32_t *inside;    /* of each stage: readers of its result in the chain */
  const bool *taken;   /* of each stage of the graph: it belongs to another group */
  bool joins;          /* stages that only the chain reads may come in from beside it */
} SambaChain;

/* An empty chain; taken: the caller's, who marks the stages of groups. Memory from the arena. */
SambaChain sambaChainCreate(const SambaStageGraph *graph, const bool *taken, SambaArena *arena);
/* Collects the stages of the group that begins at `first`, behind or beside it. The chain must be
 * empty. */
void sambaChainCollect(SambaChain *chain, const SambaMachine *machine, uint32_t first);
void sambaChainClear(SambaChain *chain);

#endif
