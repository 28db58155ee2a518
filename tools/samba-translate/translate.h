/* Samba's translations: --onnx-to-samba and --rdu-to-pef. */
#ifndef SAMBA_TOOLS_SAMBA_TRANSLATE_TRANSLATE_H
#define SAMBA_TOOLS_SAMBA_TRANSLATE_TRANSLATE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
/* One of our translations is asked for. */
bool sambaTranslateWants(int argc, char **argv);
/* Returns the exit code. */
int sambaTranslate(int argc, char **argv);
#ifdef __cplusplus
}
#endif
#endif
