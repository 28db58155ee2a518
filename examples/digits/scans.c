/* The handwritten digits as images: each scan of 8x8 is scaled up to 20x20, in a frame of 28x28;
 * see scans.h. */
#include "examples/digits/scans.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { scanSide = 8, scaledSide = 20, frame = (SCAN_SIDE - scaledSide) / 2 };

/* Where one row or column of the scaled scan lies between two of the scan, as PyTorch's bilinear
 * interpolation has it. */
typedef struct {
  int low, high;
  float share; /* of the high one */
} Between;

static Between between(int scaled) {
  float at = fmaxf(0, ((float)scaled + 0.5f) * scanSide / scaledSide - 0.5f);
  int low = (int)at;
  return (Between){low, low + 1 < scanSide ? low + 1 : low, at - (float)low};
}

static float scaledPixel(const uint8_t *scan, int row, int column) {
  if (row < 0 || row >= scaledSide || column < 0 || column >= scaledSide)
    return 0;
  Between y = between(row), x = between(column);
  const uint8_t *upper = scan + y.low * scanSide, *lower = scan + y.high * scanSide;
  float above = (1 - x.share) * upper[x.low] + x.share * upper[x.high];
  float below = (1 - x.share) * lower[x.low] + x.share * lower[x.high];
  return ((1 - y.share) * above + y.share * below) / 16; /* a scan has values from 0 to 16 */
}

/* FOLDER/NAME: `count` numbers of type ui8, which the caller frees. */
static SambaStatus readBytes(const char *folder, const char *name, int64_t count,
                             uint8_t **out_bytes) {
  char path[4096];
  SambaTensor *tensor;
  *out_bytes = NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  SAMBA_RETURN_IF_ERROR(sambaTensorReadNpy(path, sambaStringRef(name), &tensor));
  SambaStatus status = NULL;
  if (sambaTensorGetDType(tensor) != SAMBA_DTYPE_UI8 || sambaTensorGetNumElements(tensor) != count)
    status = sambaStatusMake(SAMBA_INVALID, "%s: must have %lld numbers of type ui8", path,
                             (long long)count);
  if (!status && (*out_bytes = malloc((size_t)count)))
    status = sambaTensorReadData(tensor, *out_bytes, count);
  sambaTensorRelease(tensor);
  return status;
}

SambaStatus readScans(const char *folder, Scans *out_scans) {
  const int64_t scan_bytes = scanSide * scanSide;
  uint8_t *scans, *labels = NULL;
  SambaStatus status = readBytes(folder, "scans.npy", SCAN_COUNT * scan_bytes, &scans);
  if (!status)
    status = readBytes(folder, "scan_labels.npy", SCAN_COUNT, &labels);

  for (int64_t i = 0; i < SCAN_COUNT && scans && labels; ++i) {
    const uint8_t *scan = scans + i * scan_bytes;
    for (int p = 0; p < SCAN_PIXELS; ++p) {
      float pixel = scaledPixel(scan, p / SCAN_SIDE - frame, p % SCAN_SIDE - frame);
      out_scans->images[i][p] = (pixel - 0.1307f) / 0.3081f;
    }
    out_scans->labels[i] = labels[i];
  }
  free(scans);
  free(labels);
  return status;
}

static void copyScan(const Scans *scans, uint32_t which, uint32_t at, ScanBatch *batch) {
  memcpy(batch->images[at], scans->images[which], sizeof *batch->images);
  batch->labels[at] = scans->labels[which];
}

static void takeTaught(const Scans *scans, uint64_t seed, uint64_t step, ScanBatch *batch) {
  uint64_t random = seed * 1000003 + step / SCAN_EPOCH;
  uint32_t order[SCANS_TAUGHT];
  for (uint32_t i = 0; i < SCANS_TAUGHT; ++i) { /* a shuffle: i goes to any place up to its own */
    uint32_t place = (uint32_t)(sambaRandomDraw(&random) % (i + 1));
    order[i] = order[place];
    order[place] = i;
  }
  batch->count = SCAN_BATCH;
  for (uint32_t i = 0; i < SCAN_BATCH; ++i)
    copyScan(scans, order[step % SCAN_EPOCH * SCAN_BATCH + i], i, batch);
}

static void takeTested(const Scans *scans, uint32_t first, ScanBatch *batch) {
  uint32_t left = SCANS_TESTED - first;
  batch->count = left < SCAN_BATCH ? left : SCAN_BATCH;
  for (uint32_t i = 0; i < SCAN_BATCH; ++i)
    copyScan(scans, SCANS_TAUGHT + first + i % batch->count, i, batch);
}

void takeScans(const Scans *scans, bool tests, uint64_t seed, uint64_t step, ScanBatch *out_batch) {
  if (tests)
    takeTested(scans, (uint32_t)step * SCAN_BATCH, out_batch);
  else
    takeTaught(scans, seed, step, out_batch);
}

SambaStatus writeScans(SambaSession *session, const ScanBatch *batch) {
  const int64_t dims[] = {SCAN_BATCH, 1, SCAN_SIDE, SCAN_SIDE};
  SAMBA_RETURN_IF_ERROR(sambaSessionSetInput(session, sambaStringRef("image"), SAMBA_DTYPE_F32, 4,
                                             dims, batch->images));
  return sambaSessionSetInput(session, sambaStringRef("label"), SAMBA_DTYPE_I64, 1, dims,
                              batch->labels);
}

uint32_t countRightScans(const ScanBatch *batch, const float (*logits)[SCAN_CLASSES]) {
  uint32_t right = 0;
  for (uint32_t i = 0; i < batch->count; ++i) {
    int best = 0;
    for (int c = 1; c < SCAN_CLASSES; ++c)
      best = logits[i][c] > logits[i][best] ? c : best;
    right += best == batch->labels[i];
  }
  return right;
}
