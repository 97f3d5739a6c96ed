/* A played libnvidia-ml.so.1 with two GPUs of known truth: GPU i draws 250 (i + 1) W, and its energy counter is that power times the time. The
 * declarations are those of nvml.h. */
#include <string.h>
#include <time.h>
typedef int R; typedef void *D; typedef unsigned u; typedef unsigned long long U;
static unsigned long index_of(D d) { return (unsigned long)d - 100; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_REALTIME, &t); return t.tv_sec + t.tv_nsec / 1e9; }
R nvmlInit_v2(void) { return 0; }
R nvmlInitWithFlags(u flags) { return 0; }
R nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(R r) { return "error"; }
R nvmlDeviceGetCount_v2(u *n) { *n = 2; return 0; }
R nvmlDeviceGetHandleByIndex_v2(u i, D *d) { *d = (D)(100ul + i); return 0; }
R nvmlDeviceGetName(D d, char *s, u n) { strncpy(s, "NVIDIA Played", n); return 0; }
R nvmlDeviceGetUUID(D d, char *s, u n) { strncpy(s, index_of(d) ? "GPU-1" : "GPU-0", n); return 0; }
struct pci { char legacy[16]; u domain, bus, device, id, subsystem; char bus_id[32]; };
R nvmlDeviceGetPciInfo_v3(D d, struct pci *p) { memset(p, 0, sizeof *p); strcpy(p->bus_id, "00000000:0A:00.0"); return 0; }
R nvmlDeviceGetPowerUsage(D d, u *mw) { *mw = 250000 * (index_of(d) + 1); return 0; }
R nvmlDeviceGetTotalEnergyConsumption(D d, U *mj) { *mj = (U)(250e3 * (index_of(d) + 1) * (now() - 1.7e9)); return 0; }
struct use { u gpu, memory; };
R nvmlDeviceGetUtilizationRates(D d, struct use *x) { x->gpu = 81; x->memory = 23; return 0; }
struct memory { U total, free, used; };
R nvmlDeviceGetMemoryInfo(D d, struct memory *m) { m->total = 85899345920; m->used = 12345678901; m->free = m->total - m->used; return 0; }
R nvmlDeviceGetTemperature(D d, int sensor, u *c) { if (sensor) return 2; *c = 55; return 0; }
R nvmlDeviceGetDecoderUtilization(D d, u *x, u *us) { *x = 4; *us = 1000; return 0; }
R nvmlDeviceGetEncoderUtilization(D d, u *x, u *us) { *x = 6; *us = 1000; return 0; }
R nvmlDeviceGetJpgUtilization(D d, u *x, u *us) { if (index_of(d)) return 3; *x = 9; *us = 1000; return 0; }
struct violation { U reference, violation; };
R nvmlDeviceGetViolationStatus(D d, int policy, struct violation *v) { if (policy) return 2; v->reference = 1; v->violation = 7000; return 0; }
struct support { u version, supported; };
R nvmlGpmQueryDeviceSupport(D d, struct support *s) { if (s->version != 1) return 25; s->supported = !index_of(d); return 0; }
struct sample { int taken; } samples[8]; static int made;
R nvmlGpmSampleAlloc(struct sample **s) { *s = &samples[made++]; return 0; }
R nvmlGpmSampleFree(struct sample *s) { return 0; }
R nvmlGpmSampleGet(D d, struct sample *s) { static int n; s->taken = ++n; return 0; }
struct metric { u id; R status; double value; struct { char *a, *b, *c; } info; };
struct metrics { u version, number; struct sample *a, *b; struct metric list[1]; };
R nvmlGpmMetricsGet(struct metrics *m) {
  if (m->version != 1 || m->number != 1 || m->list[0].id != 2 || m->b->taken != m->a->taken + 1) return 2;
  m->list[0].status = 0; m->list[0].value = 62.5; return 0;
}
struct process { u pid; U at; u sm, memory, encoder, decoder; };
R nvmlDeviceGetProcessUtilization(D d, struct process *p, u *n, U since) {
  if (!p || *n < 2) { *n = 2; return 7; }
  *n = 2; p[0].sm = 30; p[1].sm = 14; return 0;
}
