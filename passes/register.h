/* Registration of the passes of this folder. */
#ifndef SAMBA_PASSES_REGISTER_H
#define SAMBA_PASSES_REGISTER_H

#ifdef __cplusplus
extern "C" {
#endif
void sambaRegisterGraphPasses(void);
#ifdef __cplusplus
}
#endif
#endif
