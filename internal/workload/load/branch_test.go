package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// forest is a source of equal graphs: a root of two turns that forks one session of two turns and spawns two of one after its first turn.
func forest(n int) *shapes {
	s := talk(n, 2, 0)
	leaf := &Shape{ID: "leaf", Turns: make([]TurnTime, 1)}
	wait := 50.0
	late := &Shape{ID: "late", Turns: []TurnTime{{Delay: &wait}}}
	fork := &Shape{ID: "fork", Turns: make([]TurnTime, 2)}
	for i := range s.list {
		s.list[i].Turns[0].Branches = []Branch{{Conversation: n, Shape: fork, Fork: true}, {Conversation: n + 1, Shape: leaf, Join: 1}, {Conversation: n + 2, Shape: late, Join: 1}}
	}
	return s
}

// TestBranches: forks and spawned sessions start when their turn has been answered, the next turn waits for the spawned ones alone, and all of
// them hold one slot.
func TestBranches(t *testing.T) {
	bubble(t, "closed loop", func(t *testing.T) {
		s := newSim(t, manner{total: 100 * ms})
		r := play(t, one(Phase{Mode: ClosedLoop, Concurrency: 1, Sessions: 2}), forest(5), s)
		f := r.Phases[0]
		wantCount(t, "sent", int(f.Sent), 12)
		wantCount(t, "sessions", int(f.SessionsCompleted), 2)
		wantCount(t, "unsent", int(f.Unsent), 0)
		var got []string
		for _, v := range s.list {
			got = append(got, fmt.Sprintf("%d.%d@%d", v.Conversation, v.Turn, time.Duration(v.At-f.Started)/ms))
		}
		slices.Sort(got)
		want := []string{"0.0@0", "0.1@250", "1.0@350", "1.1@600", "5.0@100", "5.0@450", "5.1@200", "5.1@550", "6.0@100", "6.0@450", "7.0@150", "7.0@500"}
		if !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		if want := (BranchStats{ChildrenSpawned: 6, ChildrenCompleted: 6, ChildrenDelayed: 2, ParentsSuspended: 2, ParentsResumed: 2}); *f.Branches != want {
			t.Errorf("counts %+v\nwant   %+v", *f.Branches, want)
		}
		if f.StoppedBy != StopSessions {
			t.Errorf("stopped by %s", f.StoppedBy)
		}
	})
}

// TestBranchesAreCut: whatever ends a phase early, every turn of a graph is sent or counted as unsent, and every slot comes back.
func TestBranchesAreCut(t *testing.T) {
	for requests := int64(1); requests <= 13; requests++ {
		for name, p := range map[string]Phase{
			"count":    {Mode: ClosedLoop, Concurrency: 2, Requests: requests},
			"duration": {Mode: ClosedLoop, Concurrency: 2, Duration: time.Duration(requests) * 45 * ms},
			"rate":     {Mode: Rate, Rate: 20, Pattern: Constant, Concurrency: 3, Requests: requests},
			"grace":    {Mode: ClosedLoop, Concurrency: 2, Duration: time.Duration(requests) * 45 * ms, Grace: 10 * ms},
		} {
			bubble(t, fmt.Sprint(name, requests), func(t *testing.T) {
				s := newSim(t, manner{total: 100 * ms})
				f := play(t, one(p), forest(5), s).Phases[0]
				if f.Sent+f.Unsent != 6*f.SessionsSent || f.SessionsCompleted+f.SessionsCancelled != f.SessionsSent {
					t.Errorf("%d sent and %d unsent of %d sessions, %d completed, %d cut", f.Sent, f.Unsent, f.SessionsSent, f.SessionsCompleted, f.SessionsCancelled)
				}
				b := f.Branches
				if b.ChildrenSpawned > b.ChildrenCompleted+b.ChildrenTruncated || b.ParentsSuspended != b.ParentsResumed+b.JoinsSuppressed {
					t.Errorf("counts do not add up: %+v", *b)
				}
				if strings.HasPrefix(name, "count") && f.Sent != requests {
					t.Errorf("%d sent", f.Sent)
				}
			})
		}
	}
}

// TestGraphFailFast: after a failed request of a started session nothing more of its graph leaves, other graphs continue, and requests in flight
// end by themselves. Without it a failure is counted, and the graph continues.
func TestGraphFailFast(t *testing.T) {
	for _, c := range []struct {
		name     string
		fails    string // conversation.turn
		failFast bool
		sent     int
		finished int
		want     BranchStats
	}{
		{"goes on", "6.0", false, 12, 2, BranchStats{
			ChildrenSpawned: 6, ChildrenCompleted: 4, ChildrenErrored: 2, ChildrenDelayed: 2, ParentsSuspended: 2, ParentsResumed: 2}},
		{"a spawned session", "6.0", true, 8, 0, BranchStats{
			ChildrenSpawned: 6, ChildrenCompleted: 2, ChildrenErrored: 2, ChildrenTruncated: 2, ChildrenDelayed: 2, ParentsSuspended: 2, ParentsFailed: 2}},
		{"the first turn of a fork", "5.0", true, 8, 0, BranchStats{
			ChildrenSpawned: 6, ChildrenCompleted: 4, ChildrenErrored: 2, ChildrenDelayed: 2, ParentsSuspended: 2, ParentsFailed: 2}},
		{"the last turn of a fork", "5.1", true, 12, 2, BranchStats{
			ChildrenSpawned: 6, ChildrenCompleted: 4, ChildrenErrored: 2, ChildrenDelayed: 2, ParentsSuspended: 2, ParentsResumed: 2, ParentsFailed: 2}},
		{"a drawn session", "0.0", true, 12, 2, BranchStats{
			ChildrenSpawned: 6, ChildrenCompleted: 6, ChildrenDelayed: 2, ParentsSuspended: 2, ParentsResumed: 2}},
	} {
		bubble(t, c.name, func(t *testing.T) {
			s := newSim(t, manner{})
			s.behave = func(r *Request) manner {
				m := manner{total: 100 * ms}
				if m.fail = fmt.Sprintf("%d.%d", r.Session.Conversation, r.Turn) == c.fails; m.fail { // not at an instant at which others return
					m.total = 60 * ms
				}
				return m
			}
			scenario := one(Phase{Mode: ClosedLoop, Concurrency: 1, Sessions: 2})
			scenario.GraphFailFast = c.failFast
			f := play(t, scenario, forest(5), s).Phases[0]
			wantCount(t, "sent", int(f.Sent), c.sent)
			wantCount(t, "sessions completed", int(f.SessionsCompleted), c.finished)
			if *f.Branches != c.want {
				t.Errorf("counts %+v\nwant   %+v", *f.Branches, c.want)
			}
		})
	}
}
