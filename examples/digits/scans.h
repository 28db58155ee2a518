/* The handwritten digits of this folder as images to learn from. */
#ifndef SAMBA_EXAMPLES_DIGITS_SCANS_H
#define SAMBA_EXAMPLES_DIGITS_SCANS_H

#include <samba/samba.h>

/* The scans are in a fixed random order: the first ones are for the training, the rest for the
 * test. An epoch is as many whole batches as there are scans for. */
enum {
  SCAN_COUNT = 1797,
  SCANS_TAUGHT = 1437,
  SCAN_SIDE = 28,
  SCAN_PIXELS = SCAN_SIDE * SCAN_SIDE,
  SCAN_BATCH = 32,
  SCAN_EPOCH = SCANS_TAUGHT / SCAN_BATCH,
  SCANS_TESTED = SCAN_COUNT - SCANS_TAUGHT,
  SCAN_TEST_BATCHES = (SCANS_TESTED + SCAN_BATCH - 1) / SCAN_BATCH,
  SCAN_CLASSES = 10
};

typedef struct Scans {
  float images[SCAN_COUNT][SCAN_PIXELS]; /* normalized */
  int64_t labels[SCAN_COUNT];
} Scans;

typedef struct ScanBatch {
  float images[SCAN_BATCH][SCAN_PIXELS];
  int64_t labels[SCAN_BATCH];
  uint32_t
      count; /* so many are no repetition: the last batch of the test has fewer than the rest */
} ScanBatch;

/* Reads FOLDER/scans.npy and FOLDER/scan_labels.npy. */
SambaStatus readScans(const char *folder, Scans *out_scans);
/* The batch of a step of the training. Every epoch has an order of its own, which depends on the
 * seed and its number only: a training that is taken up again sees what it would have seen. With
 * `tests`, batch `step` of the test. */
void takeScans(const Scans *scans, bool tests, uint64_t seed, uint64_t step, ScanBatch *out_batch);
/* Writes the batch to the inputs image and label. */
SambaStatus writeScans(SambaSession *session, const ScanBatch *batch);
/* How many scans of the batch have their largest logit at their label. */
uint32_t countRightScans(const ScanBatch *batch, const float (*logits)[SCAN_CLASSES]);

#endif
