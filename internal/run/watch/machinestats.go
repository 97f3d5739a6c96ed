package watch

import (
	"maps"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/binenc"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/wire/transport"
)

// MachineStats is what a machine that sends requests measured of itself during the profiling phases.
type MachineStats struct {
	Usage
	CPUShare       float64 // 0 to 1, share of the available cores, or of the quota if that is smaller
	Machine        string  // fingerprint; "" = unknown
	ReadDelays     stats.Histogram
	LongestRest    time.Duration // of the reader
	PacketsLost    int64
	CaptureMissing string // why there was no packet capture; "" = there was one, or none was requested
	BacklogMax     int64  // maximum number of finished requests waiting for reduction
	Spilled        int64  // requests written to the temporary file
	MachineUse     metric.MachineUse
}

// Backlog returns the largest number of requests that waited in memory at once, and how many went through the temporary file.
type Backlog interface {
	Backlog() (largest, spilled int64)
}

// StatsOf collects the measurements of this machine. use is the load of the machine from all programs.
func StatsOf(used Usage, client *transport.Client, waiting Backlog, use metric.MachineUse) MachineStats {
	captured := client.CaptureStats()
	m := MachineStats{
		Usage: used, CPUShare: used.share(), Machine: fingerprint(), ReadDelays: *client.ReadDelays(), LongestRest: client.Stats().LongestRest, PacketsLost: int64(captured.Lost), CaptureMissing: captured.Missing,
		MachineUse: use,
	}
	m.BacklogMax, m.Spilled = waiting.Backlog()
	return m
}

// Visit encodes or decodes the measurements of a machine.
func (m *MachineStats) Visit(c *binenc.Coder) {
	for _, d := range []*time.Duration{&m.Wall, &m.CPU, &m.MaxPause, &m.TotalPause, &m.Stalls.Longest, &m.Stalls.Total, &m.Stalls.ThreadWait, &m.Stalls.WakeDelay, &m.LongestRest, &m.Quota.QuotaPeriod} {
		c.Int64((*int64)(d))
	}
	c.Int(&m.Cores)
	for _, n := range []*int64{&m.Stalls.Count, &m.PacketsLost, &m.BacklogMax, &m.Spilled, &m.MachineUse.MachineSamples, &m.Quota.QuotaPeriods, &m.Quota.QuotaStops} {
		c.Int64(n)
	}
	c.String(&m.Machine)
	c.String(&m.CaptureMissing)
	m.ReadDelays.Visit(c)
	c.Float64(&m.CPUShare)
	c.Float64(&m.Quota.QuotaCores)
	c.Float64(&m.Stalls.WakesLate)
	for _, v := range shares(&m.MachineUse) {
		c.Float64(v)
	}
}

// shares returns the shares of a machine's use.
func shares(u *metric.MachineUse) []*float64 {
	return []*float64{&u.MachineCPU, &u.MachineCPUMax, &u.MachineCoreMax, &u.Steal, &u.StealMax, &u.Pressure, &u.MemoryMax, &u.PortsMax}
}

// Combine returns the measurements of several machines as those of one: sums of what is counted, and of everything else the worst machine's, because a
// disturbance of one machine disturbs its part of the results. Machines on one computer share its cores, but each has its own quota.
func Combine(list []MachineStats) (all MachineStats) {
	computers := map[string]*MachineStats{} // cores and CPU share, by fingerprint
	for i := range list {
		m := &list[i]
		of := computers[m.Machine]
		if of == nil || m.Machine == "" {
			of = &MachineStats{}
			computers[m.Machine] = of
			all.Cores += m.Cores
		}
		if m.hasQuota() {
			all.CPUShare = max(all.CPUShare, m.CPUShare)
		} else {
			of.CPUShare += m.CPUShare
			all.CPUShare = max(all.CPUShare, of.CPUShare)
		}
		if m.Quota.StoppedMore(&all.Quota) {
			all.Quota = m.Quota
		}
		all.Wall, all.CPU = max(all.Wall, m.Wall), all.CPU+m.CPU
		all.MaxPause, all.TotalPause = max(all.MaxPause, m.MaxPause), max(all.TotalPause, m.TotalPause)
		s, o := &all.Stalls, &m.Stalls
		s.Count, s.Longest, s.Total = s.Count+o.Count, max(s.Longest, o.Longest), max(s.Total, o.Total)
		s.ThreadWait, s.WakeDelay, s.WakesLate = max(s.ThreadWait, o.ThreadWait), max(s.WakeDelay, o.WakeDelay), max(s.WakesLate, o.WakesLate)
		all.ReadDelays.Merge(&m.ReadDelays)
		all.LongestRest = max(all.LongestRest, m.LongestRest)
		all.PacketsLost += m.PacketsLost
		if all.CaptureMissing == "" {
			all.CaptureMissing = m.CaptureMissing
		}
		all.BacklogMax, all.Spilled = max(all.BacklogMax, m.BacklogMax), all.Spilled+m.Spilled
		all.MachineUse.MachineSamples += m.MachineUse.MachineSamples
		own := shares(&m.MachineUse)
		for k, v := range shares(&all.MachineUse) {
			*v = max(*v, *own[k])
		}
	}
	all.Machine = strings.Join(slices.Sorted(maps.Keys(computers)), "+")
	return all
}
