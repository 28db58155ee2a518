/* einsum: products of operands, summed over labels; a composition of views, matmul, mul and sum.
 *
 * Operands are multiplied from left to right. A label that neither a later operand nor the result
 * has is summed over as soon as possible: before the product when one factor has it, by the product
 * when both have it. The product is a matrix product, batched over the labels that both have and
 * that stay. Float intermediates are f32; one rounding at the end. */
#include "dialect/samba/table/calls/expansion.h"
#include "dialect/samba/table/core/rows.h"

#include <ctype.h>

/* Letters in the order of their codes, then the dimensions of ..., counted from the last. */
enum { letters = 52, labelCount = letters + SAMBA_MAX_RANK, mostTerms = 64 };
typedef uint8_t Label;

typedef struct {
  uint32_t count;
  Label labels[SAMBA_MAX_RANK];
} Term;

typedef struct {
  Term terms[mostTerms], out;
  int64_t sizes[labelCount];
} Equation;

static uint64_t maskOf(const Term *term) {
  uint64_t mask = 0;
  for (uint32_t i = 0; i < term->count; ++i)
    mask |= (uint64_t)1 << term->labels[i];
  return mask;
}

/* Where a term's text ends: a comma, an arrow or the end. */
static size_t termEnd(SambaStringRef text, size_t at) {
  while (at < text.size && text.data[at] != ',' && text.data[at] != '-')
    ++at;
  return at;
}

static Label labelOf(char letter) {
  return (Label)(isupper((unsigned char)letter) ? letter - 'A' : letter - 'a' + 26);
}

/* The labels of text[at, end); `ellipsis`: dimensions that ... stands for. A term with more than 8
 * is refused. */
static SambaStatus readTerm(SambaStringRef text, size_t at, size_t end, uint32_t ellipsis,
                            Term *out_term) {
  Term term = {0};
  for (bool seen = false; at < end; ++at) {
    char c = text.data[at];
    if (c == ' ')
      continue;
    bool dots =
        c == '.' && at + 2 < end && text.data[at + 1] == '.' && text.data[at + 2] == '.' && !seen;
    if (!dots && !isalpha((unsigned char)c))
      return sambaStatusMake(
          SAMBA_INVALID, "(C2) equation '%.*s' has something else than letters, ..., ',' and ->",
          SAMBA_STRING_ARGS(text));
    uint32_t added = dots ? ellipsis : 1;
    if (term.count + added > SAMBA_MAX_RANK)
      return sambaStatusMake(SAMBA_INVALID,
                             "(C3) a term of equation '%.*s' has more than %d dimensions",
                             SAMBA_STRING_ARGS(text), SAMBA_MAX_RANK);
    for (uint32_t i = 0; i < added; ++i)
      term.labels[term.count++] = dots ? (Label)(letters + ellipsis - 1 - i) : labelOf(c);
    if (dots)
      seen = true, at += 2;
  }

  *out_term = term;
  return NULL;
}

static SambaStatus addSizes(const SambaTensorType *type, uint32_t operand, const Term *term,
                            Equation *equation) {
  for (uint32_t i = 0; i < term->count; ++i) {
    int64_t *size = &equation->sizes[term->labels[i]];
    int64_t dim = type->dims[i];
    bool repeated = false;
    for (uint32_t k = 0; k < i; ++k)
      repeated |= term->labels[k] == term->labels[i] && type->dims[k] != dim;
    if (repeated || (*size > 1 && dim > 1 && *size != dim))
      return sambaStatusMake(
          SAMBA_INVALID, "(C4) dimension %u of operand %u is %lld, but its label has the size %lld",
          i, operand, (long long)dim, (long long)*size);
    *size = dim > *size ? dim : *size;
  }
  return NULL;
}

/* Without ->: what ... stands for, then the letters that occur once. */
static SambaStatus implicitResult(const SambaOperatorCall *call, uint32_t ellipsis,
                                  Equation *equation) {
  uint32_t uses[letters] = {0}, count = ellipsis;
  for (uint32_t t = 0; t < call->operand_count; ++t)
    for (uint32_t i = 0; i < equation->terms[t].count; ++i)
      if (equation->terms[t].labels[i] < letters)
        ++uses[equation->terms[t].labels[i]];
  for (uint32_t label = 0; label < letters; ++label)
    count += uses[label] == 1;
  if (count > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_INVALID, "(C6) the result has %u dimensions, but %d are the most",
                           count, SAMBA_MAX_RANK);
  for (uint32_t i = ellipsis; i-- > 0;)
    equation->out.labels[equation->out.count++] = (Label)(letters + i);
  for (uint32_t label = 0; label < letters; ++label)
    if (uses[label] == 1)
      equation->out.labels[equation->out.count++] = (Label)label;
  return NULL;
}

static SambaStatus checkResult(const SambaOperatorCall *call, const Equation *equation) {
  uint64_t known = 0, seen = 0, left;
  for (uint32_t t = 0; t < call->operand_count; ++t)
    known |= maskOf(&equation->terms[t]);

  for (uint32_t i = 0; i < equation->out.count; ++i) {
    uint64_t bit = (uint64_t)1 << equation->out.labels[i];
    if (seen & bit || !(known & bit))
      return sambaStatusMake(SAMBA_INVALID, "(C5) label %u of the result %s", i,
                             seen & bit ? "is there twice" : "occurs in no operand");
    seen |= bit;
  }

  left = maskOf(&equation->terms[0]);
  for (uint32_t t = 1; t < call->operand_count; ++t) {
    uint64_t later = seen;
    for (uint32_t k = t + 1; k < call->operand_count; ++k)
      later |= maskOf(&equation->terms[k]);
    left = (left | maskOf(&equation->terms[t])) & later;
    if (__builtin_popcountll(left) > SAMBA_MAX_RANK)
      return sambaStatusMake(
          SAMBA_INVALID,
          "(C6) the product of the first %u operands has %d dimensions, but %d are "
          "the most; write it as several equations",
          t + 1, __builtin_popcountll(left), SAMBA_MAX_RANK);
  }

  return NULL;
}

static SambaStatus readEquation(const SambaOperatorCall *call, Equation *equation) {
  SambaStringRef text = sambaOperatorCallFind(call, "equation")->value.string;
  uint32_t terms = 1, ellipsis = 0, letterCounts[mostTerms] = {0};
  size_t arrow = 0, at = 0;

  memset(equation, 0, sizeof *equation);
  while (arrow < text.size &&
         !(text.data[arrow] == '-' && arrow + 1 < text.size && text.data[arrow + 1] == '>'))
    terms += text.data[arrow++] == ',';
  SambaStringRef inputs = {text.data, arrow};
  if (terms != call->operand_count || terms > mostTerms)
    return sambaStatusMake(
        SAMBA_INVALID, "(C2) equation '%.*s' has %u terms, but there are %u operands (at most %d)",
        SAMBA_STRING_ARGS(text), terms, call->operand_count, mostTerms);
  for (int pass = 0; pass < 2; ++pass) /* first what ... stands for: the most of any operand */
    for (uint32_t t = at = 0; t < terms; ++t) {
      size_t end = termEnd(inputs, at);
      uint32_t rank = call->operands[t].rank;
      if (pass == 0) {
        bool dots = false;
        for (size_t i = at; i < end; ++i) {
          letterCounts[t] += isalpha((unsigned char)text.data[i]) != 0;
          dots |= text.data[i] == '.';
        }
        if (letterCounts[t] > rank || (letterCounts[t] < rank && !dots))
          return sambaStatusMake(
              SAMBA_INVALID,
              "(C3) operand %u has rank %u, but its term of equation '%.*s' has %u "
              "letters",
              t, rank, SAMBA_STRING_ARGS(text), letterCounts[t]);
        ellipsis = rank - letterCounts[t] > ellipsis ? rank - letterCounts[t] : ellipsis;
      } else {
        SAMBA_RETURN_IF_ERROR(readTerm(text, at, end, rank - letterCounts[t], &equation->terms[t]));
        SAMBA_RETURN_IF_ERROR(addSizes(&call->operands[t], t, &equation->terms[t], equation));
      }
      at = end + 1;
    }
  if (arrow == text.size)
    SAMBA_RETURN_IF_ERROR(implicitResult(call, ellipsis, equation));
  else
    SAMBA_RETURN_IF_ERROR(readTerm(text, arrow + 2, text.size, ellipsis, &equation->out));
  return checkResult(call, equation);
}

static SambaStatus infer(const SambaOperatorCall *call, SambaTensorType *out) {
  Equation equation;
  SAMBA_RETURN_IF_ERROR(sambaCheckDType(1, "operand 0", call->operands[0].dtype, SAMBA_SET_NUMBER));
  for (uint32_t i = 1; i < call->operand_count; ++i)
    SAMBA_RETURN_IF_ERROR(sambaCheckSameDType(1, "an operand", call->operands[i].dtype, "operand 0",
                                              call->operands[0].dtype));
  SAMBA_RETURN_IF_ERROR(readEquation(call, &equation));
  out->dtype = call->operands[0].dtype;
  out->rank = equation.out.count;
  for (uint32_t i = 0; i < out->rank; ++i)
    out->dims[i] = equation.sizes[equation.out.labels[i]];
  return NULL;
}

/* ---- The composition ---- */

/* A factor: its value, whose dimensions have different labels. */
typedef struct {
  uint32_t value;
  Term term;
} Factor;

typedef struct {
  SambaExpansion *expansion;
  const Equation *equation;
  SambaDType accumulator;
} Composer;

static bool has(uint64_t mask, Label label) { return mask >> label & 1; }

static int indexOf(const Term *term, Label label) {
  for (uint32_t i = 0; i < term->count; ++i)
    if (term->labels[i] == label)
      return (int)i;
  return -1;
}

static uint32_t reshaped(const Composer *composer, uint32_t value, uint32_t rank,
                         const int64_t *dims) {
  return sambaExpandReshape(composer->expansion, value, rank, dims);
}

/* The value's dimensions in the order of `wanted`, which has the same labels. */
static void reorder(const Composer *composer, Factor *factor, const Term *wanted) {
  int64_t dims[SAMBA_MAX_RANK];
  bool same = true;
  for (uint32_t i = 0; i < wanted->count; ++i) {
    dims[i] = indexOf(&factor->term, wanted->labels[i]);
    same = same && dims[i] == i;
  }
  if (!same)
    factor->value = sambaExpandPermute(composer->expansion, factor->value, dims);
  factor->term = *wanted;
}

/* The value with one dimension per group of labels, in this order; a group without labels is a
 * dimension of 1. Labels that follow each other as in their group are joined first: then nothing is
 * moved but by a view. */
static uint32_t arranged(const Composer *composer, Factor factor, const Term *groups,
                         uint32_t count) {
  int64_t dims[SAMBA_MAX_RANK + 2], order[SAMBA_MAX_RANK + 2], sizes[SAMBA_MAX_RANK + 2];
  uint32_t rank = 0;
  bool joined = true, same = true;

  Term wanted = {0};
  for (uint32_t g = 0; g < count; ++g) {
    order[g] = -1;
    sizes[g] = 1;
    for (uint32_t i = 0; i < groups[g].count; ++i) {
      sizes[g] *= composer->equation->sizes[groups[g].labels[i]];
      wanted.labels[wanted.count++] = groups[g].labels[i];
    }
  }

  for (uint32_t i = 0; joined && i < factor.term.count;) {
    uint32_t g = 0;
    while (g < count && !(groups[g].count && groups[g].labels[0] == factor.term.labels[i]))
      ++g;
    joined = g < count && i + groups[g].count <= factor.term.count &&
             memcmp(&factor.term.labels[i], groups[g].labels, groups[g].count * sizeof(Label)) == 0;
    if (joined) {
      dims[rank] = sizes[g];
      order[g] = rank++;
      i += groups[g].count;
    }
  }

  if (!joined) {
    reorder(composer, &factor, &wanted);
    return sambaExpandReshape(composer->expansion, factor.value, count, sizes);
  }

  for (uint32_t g = 0; g < count; ++g)
    if (order[g] < 0)
      dims[rank] = 1, order[g] = rank++;
  uint32_t value = sambaExpandReshape(composer->expansion, factor.value, rank, dims);
  for (uint32_t g = 0; g < count; ++g)
    same = same && order[g] == g;
  return same ? value : sambaExpandPermute(composer->expansion, value, order);
}

/* The diagonal of dimensions i < k: both moved to the end, made one of n * n, and every (n + 1)th
 * element taken. */
static void takeDiagonal(const Composer *composer, Factor *factor, uint32_t i, uint32_t k) {
  uint32_t rank = factor->term.count;
  uint32_t next = 0;
  const SambaTensorType *type = sambaExpansionType(composer->expansion, factor->value);
  int64_t order[SAMBA_MAX_RANK];
  int64_t dims[SAMBA_MAX_RANK];
  int64_t n = type->dims[i];

  Term term = {0};
  for (uint32_t d = 0; d < rank; ++d)
    if (d != i && d != k) {
      order[next] = d, dims[next++] = type->dims[d];
      term.labels[term.count++] = factor->term.labels[d];
    }
  term.labels[term.count++] = factor->term.labels[i];
  order[next] = i, order[next + 1] = k, dims[next] = n * n;
  uint32_t flat = reshaped(composer, sambaExpandPermute(composer->expansion, factor->value, order),
                           rank - 1, dims);
  factor->value = sambaExpandSlice(composer->expansion, flat, rank - 2, 0, n, n + 1);
  factor->term = term;
}

/* Different labels, and none of size 1 where the label's size is another: those are broadcast by
 * leaving them out. */
static Factor factorOf(const Composer *composer, uint32_t operand, const Term *term) {
  Factor factor = {operand, *term};
  for (uint32_t i = 0; i < factor.term.count; ++i)
    for (uint32_t k = factor.term.count - 1; k > i; --k)
      if (factor.term.labels[i] == factor.term.labels[k]) {
        takeDiagonal(composer, &factor, i, k);
        i = 0, k = factor.term.count; /* from the start */
      }
  Term kept = {0};
  int64_t dims[SAMBA_MAX_RANK];
  const SambaTensorType *type = sambaExpansionType(composer->expansion, factor.value);

  for (uint32_t i = 0; i < factor.term.count; ++i)
    if (type->dims[i] == composer->equation->sizes[factor.term.labels[i]]) {
      dims[kept.count] = type->dims[i];
      kept.labels[kept.count++] = factor.term.labels[i];
    }
  factor.value = reshaped(composer, factor.value, kept.count, dims);
  factor.term = kept;

  return factor;
}

static void sumOver(const Composer *composer, Factor *factor, uint64_t labels) {
  int64_t dims[SAMBA_MAX_RANK];
  size_t count = 0;

  Term kept = {0};
  for (uint32_t i = 0; i < factor->term.count; ++i)
    if (has(labels, factor->term.labels[i]))
      dims[count++] = i;
    else
      kept.labels[kept.count++] = factor->term.labels[i];
  if (!count)
    return;
  SambaAttribute attribute = sambaIntsAttribute("dim", dims, count);
  uint32_t wide = sambaExpandCast(composer->expansion, factor->value, composer->accumulator);
  factor->value = sambaExpandCall(composer->expansion, "sum", 1, &wide, 1, &attribute);
  factor->term = kept;
}

static void append(Term *term, const Term *from, uint64_t labels) {
  for (uint32_t i = 0; i < from->count; ++i)
    if (has(labels, from->labels[i]))
      term->labels[term->count++] = from->labels[i];
}

/* The product of two factors, summed over the labels of both that are not in `kept`. */
static Factor multiply(const Composer *composer, Factor a, Factor b, uint64_t kept) {
  SambaExpansion *expansion = composer->expansion;
  sumOver(composer, &a, maskOf(&a.term) & ~maskOf(&b.term) & ~kept);
  sumOver(composer, &b, maskOf(&b.term) & ~maskOf(&a.term) & ~kept);
  uint64_t both = maskOf(&a.term) & maskOf(&b.term);
  uint64_t batch = both & kept;

  Term rows = {0}, summed = {0}, columns = {0}, groups[SAMBA_MAX_RANK + 2] = {0};
  append(&rows, &a.term, ~both), append(&summed, &a.term, both & ~kept),
      append(&columns, &b.term, ~both);
  Factor result = {0};
  append(&result.term, &a.term, batch);
  uint32_t count = 0;
  for (uint32_t i = 0; i < result.term.count; ++i) /* a matrix product needs two dimensions more */
    if (result.term.count + 2 <= SAMBA_MAX_RANK || i == 0)
      groups[count++] = (Term){1, {result.term.labels[i]}};
    else
      groups[0].labels[groups[0].count++] = result.term.labels[i];
  append(&result.term, &rows, UINT64_MAX), append(&result.term, &columns, UINT64_MAX);
  int64_t dims[SAMBA_MAX_RANK];
  for (uint32_t i = 0; i < result.term.count; ++i)
    dims[i] = composer->equation->sizes[result.term.labels[i]];
  bool outer = summed.count == 0;
  if (outer || sambaExpansionType(expansion, a.value)->dtype !=
                   sambaExpansionType(expansion, b.value)->dtype) {
    a.value = sambaExpandCast(expansion, a.value, composer->accumulator);
    b.value = sambaExpandCast(expansion, b.value, composer->accumulator);
  }

  groups[count] = rows, groups[count + 1] = summed;
  uint32_t left = arranged(composer, a, groups, count + 2);
  groups[count] = summed, groups[count + 1] = columns;
  uint32_t right = arranged(composer, b, groups, count + 2);
  uint32_t product;
  SambaAttribute attribute = sambaDTypeAttribute("out_dtype", composer->accumulator);
  if (outer) /* [.., rows, 1] * [.., 1, columns] */
    product = sambaExpandBinary(expansion, "mul", left, right);
  else
    product = sambaExpandCall(expansion, "matmul", 2, (uint32_t[]){left, right}, 1, &attribute);
  result.value = sambaExpandReshape(expansion, product, result.term.count, dims);

  return result;
}

static SambaStatus decompose(const SambaOperatorCall *call, SambaExpansion *expansion,
                             const uint32_t *operands, uint32_t *out_results) {
  Equation equation;
  SAMBA_RETURN_IF_ERROR(readEquation(call, &equation));
  SambaDType dtype = call->operands[0].dtype;

  Composer composer = {expansion, &equation, sambaDTypeLaneClass(dtype)};
  Factor product = factorOf(&composer, operands[0], &equation.terms[0]);

  for (uint32_t t = 1; t < call->operand_count && !expansion->status; ++t) {
    uint64_t kept = maskOf(&equation.out);
    for (uint32_t k = t + 1; k < call->operand_count; ++k)
      kept |= maskOf(&equation.terms[k]);
    product =
        multiply(&composer, product, factorOf(&composer, operands[t], &equation.terms[t]), kept);
  }

  if (expansion->status)
    return NULL; /* the expansion reports it */
  sumOver(&composer, &product, ~maskOf(&equation.out));
  if (expansion->status)
    return NULL;
  reorder(&composer, &product, &equation.out);
  out_results[0] = sambaExpandCast(expansion, product.value, dtype);

  return NULL;
}

const SambaOperator sambaEinsumOperators[] = {
    {.name = "einsum",
     .summary = "sum of products over the labels of an equation",
     .computes =
         "`equation` names the dimensions of each operand by letters, `...` for any number of "
         "them, and after -> those of the result; without -> these are the letters that occur "
         "once, in alphabetical order, after what ... stands for. A letter that is repeated within "
         "an operand is its diagonal; letters that the result leaves out are summed over. Operands "
         "are multiplied from left to right, intermediates in f32. Composite.",
     .operands = {"inputs*"},
     .attributes = {REQUIRED(STRING, "equation", "such as bij,bjk->bik")},
     .constraints = {"the operands have one number dtype",
                     "equation has letters, `...`, `,` and at most one ->, and as many terms as "
                     "there are operands",
                     "a term has one letter per dimension that ... does not stand for",
                     "a label has one size wherever it occurs, or 1",
                     "the result's labels are different and occur in an operand",
                     "no intermediate has more than 8 dimensions"},
     .example = "%y = samba.einsum %a, %b {equation = \"bij,jk->bik\"} : tensor<2x3x4xf32>, "
                "tensor<4x5xf32>",
     .source = "torch.einsum, ONNX Einsum",
     .contraction = true,
     .dtypes = SAMBA_SET_NUMBER,
     .infer = infer,
     .decompose = decompose},
    {0}};
