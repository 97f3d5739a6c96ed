package metric

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestMachineLosses: the sentence names the first few machines that were lost, counts the rest, and adds up the requests.
func TestMachineLosses(t *testing.T) {
	all := func(n, lost int) *MachineParts {
		p := &MachineParts{}
		for k := range n {
			m := Machine{Name: fmt.Sprintf("w%d", k+1), Complete: true, Sent: 10, Delivered: 10}
			if k < lost {
				m.Complete, m.LostAt, m.Problem, m.Delivered = false, time.Duration(lost-k)*time.Second, "no sign of life", 7
			}
			p.Machines = append(p.Machines, m)
		}
		return p
	}
	undelivered := all(4, 0)
	undelivered.Machines[2].Complete, undelivered.Machines[2].Delivered = false, 4
	sent := all(4, 0)
	sent.Machines[2].Complete, sent.Machines[2].Delivered, sent.Machines[2].SentAll = false, 4, true
	for want, p := range map[string]*MachineParts{
		"": all(3, 0),
		"Of 4 machines, machine w3 was lost: it did not deliver all results. The results of 4 of its 10 requests arrived.":                                                                                                                                                                                                                                                 sent,
		"Of 4 machines, machine w1 was lost 1.0 s after the start (no sign of life). The results of 7 of its at least 10 requests arrived. At the end the load was 75 % of the planned one.":                                                                                                                                                                               all(4, 1),
		"Of 4 machines, machine w3 was lost: it did not deliver all results. The results of 4 of its at least 10 requests arrived. At the end the load was 75 % of the planned one.":                                                                                                                                                                                       undelivered,
		"Of 64 machines, machine w64 was lost 1.0 s after the start (no sign of life); machine w63 was lost 2.0 s after the start (no sign of life); machine w62 was lost 3.0 s after the start (no sign of life); so were 61 more (machines.json lists them). The results of 448 of their at least 640 requests arrived. At the end the load was 0 % of the planned one.": all(64, 64),
	} {
		if got := p.lossSentence(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

// TestMachineAbsences: a few absences are said one by one, many in one sentence.
func TestMachineAbsences(t *testing.T) {
	p := &MachineParts{}
	for k := range 5 {
		p.Machines = append(p.Machines, Machine{Name: fmt.Sprintf("w%d", k+1), Complete: true, OutOfSight: time.Duration(k) * time.Second})
	}
	if got := p.absences(); len(got) != 1 || got[0] != "4 machines were out of sight, w5 the longest, for 4.0 s; all of their results arrived." {
		t.Errorf("%q", got)
	}
	p.Machines = p.Machines[:3]
	if got := p.absences(); len(got) != 2 || got[0] != "Machine w3 was out of sight for 2.0 s; all of its results arrived." {
		t.Errorf("%q", got)
	}
}

// TestMachineClocks: how well clocks are known is said of one machine and of several.
func TestMachineClocks(t *testing.T) {
	p := &MachineParts{Machines: []Machine{{Name: "w1", Complete: true, ClockBound: 102 * time.Millisecond}}}
	want := []string{"1 machine sent the requests; its clock agrees with the controller's within 102 ms.", "The clock of machine w1 is only known within 102 ms, and so are instants on the time axis. Latencies are not affected."}
	if got := p.sentences(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	p.Machines[0].ClockBound = 20 * time.Microsecond
	p.Machines = append(p.Machines, Machine{Name: "w2", Complete: true, ClockBound: 30 * time.Microsecond})
	if got := p.sentences(); len(got) != 1 || got[0] != "2 machines sent the requests; their clocks agree within 30 µs." {
		t.Errorf("%q", got)
	}
}

// TestMachineThatSentLatest: the lag of a machine whose results did not all arrive is unknown, so it is compared with none.
func TestMachineThatSentLatest(t *testing.T) {
	p := &MachineParts{Machines: []Machine{{Name: "w1", Complete: true, LagP99: 6 * time.Millisecond}, {Name: "w2"}}}
	if got := p.sentences(); !slices.Equal(got, []string{"2 machines sent the requests."}) {
		t.Errorf("with a lost machine: %q", got)
	}
	p.Machines = append(p.Machines, Machine{Name: "w3", Complete: true, LagP99: 2 * time.Millisecond})
	if got := p.sentences(); len(got) != 2 || got[1] != "Machine w1 sent latest: p99 of its schedule lag 6 ms, of the others at most 2 ms." {
		t.Errorf("%q", got)
	}
}
