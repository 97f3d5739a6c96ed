package metric

import (
	"fmt"
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
	for want, p := range map[string]*MachineParts{
		"": all(3, 0),
		"Of 4 machines, machine w1 was lost 1.0 s after the start (no sign of life). The results of 7 of their 10 requests arrived. At the end the load was 75 % of the planned one.":                                                                                                                                                                             all(4, 1),
		"Of 4 machines, machine w3 was lost: it did not deliver all results. The results of 4 of their 10 requests arrived. At the end the load was 75 % of the planned one.":                                                                                                                                                                                     undelivered,
		"Of 64 machines, machine w64 was lost 1.0 s after the start (no sign of life); machine w63 was lost 2.0 s after the start (no sign of life); machine w62 was lost 3.0 s after the start (no sign of life); so were 61 more (machines.json lists them). The results of 448 of their 640 requests arrived. At the end the load was 0 % of the planned one.": all(64, 64),
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
