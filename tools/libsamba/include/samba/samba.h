/* Samba's C library, libsamba: everything. */
#ifndef SAMBA_SAMBA_H
#define SAMBA_SAMBA_H

#include "samba/attribute.h"
#include "samba/base.h"
#include "samba/compile.h"
#include "samba/context.h"
#include "samba/lazy.h"
#include "samba/operator_info.h"
#include "samba/operators.h"
#include "samba/random.h"
#include "samba/session.h"
#include "samba/tensor.h"
#include "samba/trace.h"
#include "samba/trace_graph.h"
#include "samba/trace_record.h"
#include "samba/training.h"

#endif
