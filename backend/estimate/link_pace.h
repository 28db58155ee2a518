/* What crowded links cost a section, before its streams have routes. */
#ifndef SAMBA_BACKEND_ESTIMATE_LINK_PACE_H
#define SAMBA_BACKEND_ESTIMATE_LINK_PACE_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Of all lanes between switches, the shares that vectors would have, as if each took one lane to
 * each of its destinations. */
typedef struct SambaLinkShares {
  double bursts; /* all have their bursts, turns counted, or their rates on average */
  double wishes; /* all have what they wish for */
} SambaLinkShares;
/* busiest: the section's sambaSectionBusyCycles. */
SambaLinkShares sambaSectionLinkShares(const SambaSection *section, const SambaMachine *machine,
                                       double busiest);

/* How many times as long a section takes as if every stream had lanes of its own: 1 and more. */
double sambaSectionLinkPace(const SambaSection *section, const SambaMachine *machine,
                            double busiest);

#endif
