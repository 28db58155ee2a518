/* The version of the project: reports and PEFs carry it. CMakeLists.txt says the same. */
#ifndef SAMBA_SUPPORT_BASE_VERSION_H
#define SAMBA_SUPPORT_BASE_VERSION_H

#define SAMBA_VERSION "0.1.0"

#endif
