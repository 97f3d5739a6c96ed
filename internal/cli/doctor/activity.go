package doctor

import (
	"fmt"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
)

// stolenProblem is the share of CPU time, in percent, from which on a hypervisor makes numbers useless.
const stolenProblem = 10

func (f *Facts) load() Check {
	u := f.Use
	c := Check{Name: "other load", Values: map[string]any{"sampled_seconds": f.Sampled.Seconds()}}
	if u.MachineSamples == 0 {
		c.Level, c.Found = Note, "This system does not report its load."
		c.Meaning, c.Change = "aiperf cannot tell whether other programs disturbed a run.", "Look at the load yourself before a run."
		return c
	}
	for key, v := range map[string]float64{"cpu_percent": u.MachineCPU, "steal_percent": u.Steal, "pressure_percent": u.Pressure} {
		c.Values[key] = v
	}
	c.Found = fmt.Sprintf("In %.1f s the CPUs were busy for %.0f %% of the time, a hypervisor took %.1f %%, and some program waited for a CPU for %.0f %%.",
		f.Sampled.Seconds(), u.MachineCPU, u.Steal, u.Pressure)
	c.Meaning = "Other programs leave enough CPU time at the moment. Each run measures this again."
	switch {
	case u.Steal > metric.StolenShare:
		c.Level = Note
		if u.Steal > stolenProblem {
			c.Level = Problem
		}
		c.Meaning, c.Change = "Stolen time stops aiperf and a server on this machine without a trace in their own clocks.", "Use a machine with dedicated CPUs."
	case u.Pressure > metric.WaitedShare || u.MachineCPU > metric.BusyMachine:
		c.Level = Note
		c.Meaning = "aiperf, and a server on this machine, will wait for CPUs. Verdicts become uncertain and servers look slower than they are."
		c.Change = "Stop other programs, or measure from another machine."
	}
	return c
}

// lateShare is the share of late wake-ups from which on they are worth a note.
const lateShare = 0.2

func (f *Facts) wakeUps() Check {
	s := f.Stalls
	c := Check{
		Name:    "wake-ups",
		Found:   fmt.Sprintf("%.0f %% of the timed wake-ups were more than 0.5 ms late, the longest by %.2f ms.", 100*s.WakesLate, float64(s.Longest)/1e6),
		Meaning: "Requests can leave at the instant at which they are due.",
		Values:  map[string]any{"late_share": s.WakesLate, "longest_ms": float64(s.Longest) / 1e6, "stalls": s.Count},
	}
	if s.Count > 0 || s.WakesLate > lateShare {
		c.Level = Note
		c.Meaning = "Schedules with thousands of requests per second are missed, and pauses of this machine look like pauses of the server."
		c.Change = "Stop other programs, disable deep CPU sleep states, or use a machine that is not shared."
	}
	return c
}

// slowClock is the cost of one reading from which on the clock disturbs.
const slowClock = 250 * time.Nanosecond

func (f *Facts) clockSource() Check {
	name := f.ClockSource
	if name == "" {
		name = "not reported"
	}
	c := Check{
		Name: "clock source", Found: fmt.Sprintf("%s; one reading takes %d ns.", terminal.Line(name), f.ClockRead.Nanoseconds()),
		Meaning: "Readings of the clock cost next to nothing; a request needs about ten.",
		Values:  map[string]any{"source": f.ClockSource, "reading_ns": f.ClockRead.Nanoseconds()},
	}
	if f.ClockRead > slowClock {
		c.Level = Note
		c.Meaning = "Each reading is a call of the kernel. Above some 10,000 events per second this takes noticeable CPU time."
		c.Change = "Choose a fast source, if there is one: cat /sys/devices/system/clocksource/clocksource0/available_clocksource"
	}
	return c
}

func (f *Facts) wallClock() Check {
	c := Check{Name: "wall clock", Meaning: "Times in files can be compared with the logs of other machines. Durations never use this clock."}
	switch {
	case f.Synchronised == nil:
		c.Found, c.Meaning = "This system does not say whether the wall clock is synchronised.", "Durations never use this clock. It matters for aiperf merge and for logs of other machines."
	case *f.Synchronised:
		c.Found = "The wall clock is synchronised."
	default:
		c.Level, c.Found = Note, "The wall clock is not synchronised."
		c.Meaning = "Durations are right. Times in files cannot be compared with other machines, for example by aiperf merge."
		c.Change = "Start chrony or systemd-timesyncd."
	}
	if f.Synchronised != nil {
		c.Values = map[string]any{"synchronised": *f.Synchronised}
	}
	return c
}

// fewPorts is the number of local ports below which a note says so.
const fewPorts = 10_000

func (f *Facts) ports() Check {
	c := Check{Name: "local ports"}
	if f.Ports == 0 {
		c.Found, c.Meaning = "This system does not report its range of local ports.", "Each connection to a server needs one."
		return c
	}
	c.Values = map[string]any{"ports": f.Ports, "used_percent": f.Use.PortsMax}
	c.Found = fmt.Sprintf("%s for one server address; %.1f %% are in use or wait for reuse.", terminal.Plural(f.Ports, "port"), f.Use.PortsMax)
	c.Meaning = fmt.Sprintf("At most %s connections to one address at once, or %d new ones per second (a closed port is blocked for 60 s).", terminal.Count(f.Ports), f.Ports/60)
	if f.Ports < fewPorts || f.Use.PortsMax > metric.UsedPorts {
		c.Level = Note
		c.Change = `sudo sysctl -w net.ipv4.ip_local_port_range="1024 65535"; more addresses with --local-address; or keep --connection-reuse-strategy pooled`
	}
	return c
}
