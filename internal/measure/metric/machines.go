package metric

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
)

// Machine is one of the machines that sent the requests of a run.
type Machine struct {
	Name     string
	Host     string // name of the computer; "" = unknown
	Index    int    // of its share, from 0
	Complete bool   // all of its results arrived
	// Problem is why it is not complete, or why its part of the load ended early; "" = nothing happened.
	Problem string
	LostAt  time.Duration // since the start of the first measured phase, when it was given up or stopped by itself; 0 = it did neither

	ClockOffset int64         // ns: this machine's wall clock minus the controller's, at the end
	ClockBound  time.Duration // largest error of the offset during the run; 0 = unknown
	OutOfSight  time.Duration // time without a sign of life, in absences of more than 1.5 s

	Sent      int64 // requests of all phases, as far as known
	SentAll   bool  // it sent its part of every phase to the end, as far as known
	Delivered int64 // requests whose results arrived
	Pieces    int64 // of its results
	LagP99    time.Duration
	CPUShare  float64 // 0 to 1, share of its cores
	Cores     int
	Stalls    int64
}

// lost reports whether the machine was given up, ended its part early, or did not deliver all results.
func (m *Machine) lost() bool { return m.LostAt > 0 || !m.Complete }

// limits of what the report says about the machines of a run.
const (
	loosestClocks = time.Millisecond
	smallLag      = time.Millisecond
	worstLag      = 2 // the worst machine's lag is named from this multiple of the largest of the others
	namedMachines = 3 // of those to which the same happened
)

// MachineParts are the machines that sent a run. The zero value means that one process sent it.
type MachineParts struct{ Machines []Machine }

// SetMachines notes the machines that sent the run.
func (e *ClientStats) SetMachines(list []Machine) {
	e.Machines = list
	if !slices.ContainsFunc(list, func(m Machine) bool { return m.lost() }) {
		e.AskedOfRest = 0 // of all
	}
}

// lossSentence says which machines were lost and what that means; "" = none was.
func (p *MachineParts) lossSentence() string {
	var lost []*Machine
	sent, delivered, missing, atLeast := int64(0), int64(0), 0, ""
	for i := range p.Machines {
		if m := &p.Machines[i]; m.lost() {
			lost = append(lost, m)
			sent, delivered = sent+max(m.Sent, m.Delivered), delivered+m.Delivered
			if !m.SentAll {
				missing++
			}
			if !m.Complete && !m.SentAll { // it may have sent more after its last message
				atLeast = "at least "
			}
		}
	}
	if lost == nil {
		return ""
	}
	slices.SortStableFunc(lost, func(a, b *Machine) int { return cmp.Compare(a.LostAt, b.LostAt) })
	n, named := len(p.Machines), []string{}
	for _, m := range lost[:min(len(lost), namedMachines)] {
		named = append(named, m.loss())
	}
	text := fmt.Sprintf("Of %s, machine %s", terminal.Plural(int64(n), "machine"), strings.Join(named, "; machine "))
	if more := len(lost) - len(named); more > 0 {
		text += fmt.Sprintf("; so were %d more (machines.json lists them)", more)
	}
	whose := "their"
	if len(lost) == 1 {
		whose = "its"
	}
	text += fmt.Sprintf(". The results of %s of %s %s%s arrived.", terminal.Count(delivered), whose, atLeast, terminal.Plural(sent, "request"))
	if missing > 0 { // the others sent their parts, whose results did not arrive
		text += fmt.Sprintf(" At the end the load was %.0f %% of the planned one.", 100*float64(n-missing)/float64(n))
	}
	return text
}

// Silent returns the number of machines that did not deliver all results. Their statistics of the schedule may be missing.
func (p *MachineParts) Silent() (n int64) {
	for i := range p.Machines {
		if !p.Machines[i].Complete {
			n++
		}
	}
	return n
}

// loss says what happened to a machine that was lost.
func (m *Machine) loss() string {
	text := m.Name + " was lost: it did not deliver all results"
	if m.LostAt > 0 {
		text = fmt.Sprintf("%s was lost %.1f s after the start", m.Name, m.LostAt.Seconds())
	}
	if m.Problem != "" {
		text += " (" + m.Problem + ")"
	}
	return text
}

// clockBound returns the largest bound of all clocks, and the machine that has it.
func (p *MachineParts) clockBound() (bound time.Duration, name string) {
	for i := range p.Machines {
		if m := &p.Machines[i]; m.ClockBound > bound {
			bound, name = m.ClockBound, m.Name
		}
	}
	return bound, name
}

// latest returns the machine that sent latest and the largest lag of the others. Machines that did not deliver all results are skipped, because their
// lags are unknown. m is nil with fewer than two machines.
func (p *MachineParts) latest() (m *Machine, others time.Duration) {
	var known []*Machine
	for i := range p.Machines {
		if m := &p.Machines[i]; m.Complete {
			known = append(known, m)
		}
	}
	if len(known) < 2 {
		return nil, 0
	}
	slices.SortStableFunc(known, func(a, b *Machine) int { return cmp.Compare(b.LagP99, a.LagP99) })
	return known[0], known[1].LagP99
}

// sentences describes the machines of a run: how many there were, how well their clocks are tied, and which one was the worst.
func (p *MachineParts) sentences() (list []string) {
	if len(p.Machines) == 0 {
		return nil
	}
	bound, name := p.clockBound()
	text := fmt.Sprintf("%s sent the requests", terminal.Plural(int64(len(p.Machines)), "machine"))
	switch {
	case bound > 0 && len(p.Machines) > 1:
		text += "; their clocks agree within " + formatDuration(bound)
	case bound > 0:
		text += "; its clock agrees with the controller's within " + formatDuration(bound)
	}
	list = append(list, text+".")
	if bound > loosestClocks {
		list = append(list, fmt.Sprintf("The clock of machine %s is only known within %s, and so are instants on the time axis. Latencies are not affected.", name, formatDuration(bound)))
	}
	if w, others := p.latest(); w != nil && w.LagP99 > smallLag && w.LagP99 > worstLag*others {
		list = append(list, fmt.Sprintf("Machine %s sent latest: p99 of its schedule lag %s, of the others at most %s.", w.Name, formatDuration(w.LagP99), formatDuration(others)))
	}
	return append(list, p.absences()...)
}

// absences says which machines were out of sight although all of their results arrived.
func (p *MachineParts) absences() (list []string) {
	var away []*Machine
	for i := range p.Machines {
		if m := &p.Machines[i]; m.Complete && m.OutOfSight > 0 {
			away = append(away, m)
		}
	}
	slices.SortStableFunc(away, func(a, b *Machine) int { return cmp.Compare(b.OutOfSight, a.OutOfSight) })
	if len(away) > namedMachines {
		m := away[0]
		return []string{fmt.Sprintf("%d machines were out of sight, %s the longest, for %.1f s; all of their results arrived.", len(away), m.Name, m.OutOfSight.Seconds())}
	}
	for _, m := range away {
		list = append(list, fmt.Sprintf("Machine %s was out of sight for %.1f s; all of its results arrived.", m.Name, m.OutOfSight.Seconds()))
	}
	return list
}
