package load

import "testing"

// TestUnusedConversations: a phase that ends puts the conversations back that it had prepared; the next phase begins with them. Those of a schedule
// are not among the others.
func TestUnusedConversations(t *testing.T) {
	for name, first := range map[string]Phase{
		"a rate":              {Mode: Rate, Pattern: Constant, Rate: 10, Duration: 350 * ms, Grace: -1},
		"a closed loop":       {Mode: ClosedLoop, Concurrency: 3, Requests: 3},
		"a schedule, cut off": {Mode: FixedSchedule, Duration: 25 * ms, Grace: -1},
	} {
		bubble(t, name, func(t *testing.T) {
			times := make([]float64, 50)
			for i := range times {
				times[i] = float64(10 * i)
			}
			first.Name, first.Warmup = "warmup", true
			s := newSim(t, manner{total: 5 * ms})
			r := play(t, Scenario{Sampling: Sequential, Phases: []Phase{first, {Name: "profiling", Mode: ClosedLoop, Concurrency: 1, Requests: 5}}}, trace(times...), s)
			wantCount(t, "warm-up requests", int(r.Phases[0].Sent), 3)
			next := 3
			if first.Mode == FixedSchedule {
				next = 0
			}
			for i, v := range s.phase("profiling") {
				if v.Conversation != next+i {
					t.Errorf("request %d is of conversation %d, want %d", i, v.Conversation, next+i)
				}
			}
		})
	}
}
