/* Registration of every pass and pipeline of Samba; may be called more than once. */
#ifndef SAMBA_PIPELINE_REGISTER_H
#define SAMBA_PIPELINE_REGISTER_H

#ifdef __cplusplus
extern "C" {
#endif
void sambaRegisterPasses(void);
#ifdef __cplusplus
}
#endif
#endif
