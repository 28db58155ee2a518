/* Interval tree; see interval_tree.h. A treap: a search tree by begin and value, and a heap by a
 * hash of them, which keeps it flat. Each node knows the last end below it, so that a search leaves
 * out what ends too early. */
#include "support/container/interval_tree.h"

typedef struct SambaIntervalNode {
  uint64_t begin, end;
  uint64_t last_end; /* of this node and all below it */
  uint64_t priority;
  struct SambaIntervalNode *left, *right;
  uint32_t value;
} Node;

static uint64_t priorityOf(uint64_t begin, uint32_t value) {
  __uint128_t product = (__uint128_t)(begin ^ 0x9e3779b97f4a7c15u) * (value ^ 0xd6e8feb86659fd93u);
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static bool isBefore(const Node *node, uint64_t begin, uint32_t value) {
  return node->begin < begin || (node->begin == begin && node->value < value);
}

static Node *update(Node *node) {
  node->last_end = node->end;
  if (node->left && node->left->last_end > node->last_end)
    node->last_end = node->left->last_end;
  if (node->right && node->right->last_end > node->last_end)
    node->last_end = node->right->last_end;
  return node;
}

/* One tree of two; everything in `left` is before everything in `right`. */
static Node *join(Node *left, Node *right) {
  if (!left || !right)
    return left ? left : right;
  if (left->priority > right->priority) {
    left->right = join(left->right, right);
    return update(left);
  }
  right->left = join(left, right->left);
  return update(right);
}

/* Two trees of one: what is before the key, and the rest. */
static void split(Node *node, uint64_t begin, uint32_t value, Node **out_left, Node **out_right) {
  if (!node) {
    *out_left = *out_right = NULL;
  } else if (isBefore(node, begin, value)) {
    split(node->right, begin, value, &node->right, out_right);
    *out_left = update(node);
  } else {
    split(node->left, begin, value, out_left, &node->left);
    *out_right = update(node);
  }
}

void sambaIntervalTreeInsert(SambaIntervalTree *tree, uint64_t begin, uint64_t end,
                             uint32_t value) {
  Node *node = tree->free_nodes;
  if (node)
    tree->free_nodes = node->right;
  else
    node = SAMBA_ARENA_NEW(&tree->arena, Node);
  *node = (Node){.begin = begin,
                 .end = end,
                 .last_end = end,
                 .priority = priorityOf(begin, value),
                 .value = value};
  Node *before, *behind;
  split(tree->root, begin, value, &before, &behind);
  tree->root = join(join(before, node), behind);
}

static Node *takeOut(Node *node, uint64_t begin, uint32_t value, Node **out_taken) {
  if (!node)
    return NULL;
  if (node->begin == begin && node->value == value) {
    *out_taken = node;
    return join(node->left, node->right);
  }
  if (isBefore(node, begin, value))
    node->right = takeOut(node->right, begin, value, out_taken);
  else
    node->left = takeOut(node->left, begin, value, out_taken);
  return update(node);
}

bool sambaIntervalTreeRemove(SambaIntervalTree *tree, uint64_t begin, uint32_t value) {
  Node *taken = NULL;
  tree->root = takeOut(tree->root, begin, value, &taken);
  if (!taken)
    return false;
  taken->right = tree->free_nodes;
  tree->free_nodes = taken;
  return true;
}

static void find(const Node *node, uint64_t begin, uint64_t end, SambaIntervalValues *values) {
  if (!node || node->last_end <= begin)
    return;
  find(node->left, begin, end, values);
  if (node->begin >= end)
    return;
  if (node->end > begin)
    sambaArrayAppend(values, node->value);
  find(node->right, begin, end, values);
}

void sambaIntervalTreeFind(const SambaIntervalTree *tree, uint64_t begin, uint64_t end,
                           SambaIntervalValues *values) {
  find(tree->root, begin, end, values);
}

void sambaIntervalTreeFree(SambaIntervalTree *tree) {
  sambaArenaDestroy(&tree->arena);
  *tree = (SambaIntervalTree){0};
}
