package watch

import (
	"math"
	"time"

	"aiperf/internal/base/setting"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
)

// Health reads the client's measurements of itself while the load runs.
type Health struct {
	Meter  *Meter
	Client *transport.Client
}

// SoFar returns the health of the client, and what the verdict of the present phase would be if the run ended now. capped says that all slots of the
// phase were in use at some time: then a lag of the schedule may come from the server, and the client is not judged by it. The final verdict knows
// more: the causes of the lag, the bounds of every figure and the load of the machine.
func (h *Health) SoFar(s *liveview.State, now *load.Snapshot, capped bool, spell setting.Spell) liveview.Health {
	out := liveview.Health{LagP99: s.Health.LagP99, ReadDelay: math.NaN(), CPUWait: math.NaN()}
	used, ok := h.Meter.SoFar()
	if !ok {
		return out
	}
	stalls := used.Stalls
	out.Stalls, out.Longest = stalls.Count, stalls.Longest
	if stalls.ThreadWait > 0 {
		out.CPUWait = 100 * float64(stalls.ThreadWait) / float64(stalls.ThreadWait+used.CPU)
	}
	e := metric.ClientStats{
		CPUShare: used.share(), Cores: used.Cores, CPUTime: used.CPU, ThreadWait: stalls.ThreadWait, Stalls: stalls.Count, StallLongest: stalls.Longest, StallTotal: stalls.Total,
		QuotaUse: used.Quota, Valid: s.Counts.OK, Failed: s.Counts.Errors, Messages: s.Counts.OK,
	}
	if delays := h.Client.ReadDelays(); delays.Count > 0 {
		e.ReadDelays, e.ReadDelayP50, e.ReadDelayP99 = delays.Count, time.Duration(delays.Quantile(0.5)), time.Duration(delays.Quantile(0.99))
		out.ReadDelay = float64(e.ReadDelayP99) / 1e6
	}
	if now.Info.Mode != load.ClosedLoop {
		e.OpenLoop = true
		if lag := out.LagP99; lag == lag && !capped {
			e.LagP99, e.OwnLagP99 = time.Duration(lag*1e6), time.Duration(lag*1e6)
		}
		if seconds := s.Counts.Elapsed.Seconds(); now.SentAll == 0 && seconds > 0 {
			e.RateSeconds, e.Asked, e.Drawn, e.Sent = seconds, float64(now.Sent), float64(now.Sent), now.Sent
		}
	}
	if s.Counts.OK == 0 && s.Counts.Errors == 0 {
		return out // nothing to judge yet
	}
	v := metric.AssessSoFar(e, spell)
	out.Verdict, out.Reason = string(v.Verdict), v.Reason
	return out
}
