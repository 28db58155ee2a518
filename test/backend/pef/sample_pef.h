/* A small PEF made by hand: x [2,3], weight w [4,3] with data, y [2,4], one section, one call. */
#ifndef SAMBA_TEST_BACKEND_PEF_SAMPLE_PEF_H
#define SAMBA_TEST_BACKEND_PEF_SAMPLE_PEF_H

#include "backend/pef/pef.h"

enum { SAMPLE_X, SAMPLE_W, SAMPLE_Y, SAMPLE_STATE, SAMPLE_SYMBOLS };
extern const float sampleWeights[12];
SambaPef *samplePefCreate(void);
/* Fails the test when status is not success; frees it. */
void expectOk(SambaStatus status);
/* Fails the test unless the message contains `text`; frees the status. */
void expectError(SambaStatus status, const char *text);
/* A path in a fresh folder of this process; valid until the next call with the same slot (0..3). */
const char *samplePath(int slot, const char *name);
/* Whole file; NULL when it is not there. Release with free(). */
char *sampleReadFile(const char *path, size_t *out_size);
/* Overwrites bytes of an ELF section of the file, `at` bytes from its start; returns the section's
 * offset in the file. */
uint64_t samplePatch(const char *path, const char *section, uint64_t at, const void *data,
                     size_t size);
void sampleWriteFile(const char *path, const void *data, size_t size);

#endif
