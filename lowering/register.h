/* Registration of the passes of this folder. */
#ifndef SAMBA_LOWERING_REGISTER_H
#define SAMBA_LOWERING_REGISTER_H

#ifdef __cplusplus
extern "C" {
#endif
void sambaRegisterLoweringPasses(void);
#ifdef __cplusplus
}
#endif
#endif
