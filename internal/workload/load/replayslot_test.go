package load

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/rng"
)

// recordedAt is a conversation with turns at these times, ms; NaN = not recorded.
func recordedAt(id string, times ...float64) Shape {
	s := Shape{ID: id}
	for i := range times {
		var turn TurnTime
		if !math.IsNaN(times[i]) {
			turn.Timestamp = &times[i]
		}
		s.Turns = append(s.Turns, turn)
	}
	return s
}

// start lets a turn of a conversation start another.
func start(s *Shape, turn, join, conversation int, id string, times ...float64) {
	c := recordedAt(id, times...)
	s.Turns[turn].Branches = append(s.Turns[turn].Branches, Branch{Conversation: conversation, Shape: &c, Join: join})
}

// recordings are those that the entries of testdata are of.
func recordings() *shapes {
	no := math.NaN()
	a, b, c, d := recordedAt("a", 0, 1000, 2000, 9000, 10000), recordedAt("b", 0, 500, 40000), recordedAt("c", no, no, no, no, no, no), recordedAt("d", 0, 100)
	start(&a, 1, 3, 4, "a1", 2500, 4000, 6000)
	start(&a, 0, 0, 5, "a2", 700, 12000)
	start(&d, 1, 0, 6, "d1", 300, 800, 5000)
	return &shapes{list: []Shape{a, b, c, d}}
}

// TestEntries: lanes enter the same recordings at the same instants, with the same sessions under way, as the Python tool's 0.13.0 does with the
// same seed (its TrajectorySource, run over the same recordings).
func TestEntries(t *testing.T) {
	text, err := os.ReadFile("testdata/entries.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")
	for len(rows) > 0 {
		f := strings.Fields(rows[0])
		from, _ := strconv.ParseFloat(f[1], 64)
		to, _ := strconv.ParseFloat(f[2], 64)
		var want []string
		for len(rows) > 0 && strings.HasPrefix(rows[0], strings.Join(f[:3], " ")+" ") {
			want = append(want, rows[0])
			rows = rows[1:]
		}
		g, err := New(Scenario{Phases: []Phase{{Mode: AgenticReplay, Concurrency: len(want), Sessions: 1, Replay: Replay{From: from, To: to}}}},
			Options{Source: recordings(), Root: rng.NewDecimal(f[0]), Waiter: clock.NewTimerWaiter()})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		fed := make(chan struct{})
		go func() { g.prefetcher.run(ctx); close(fed) }()
		err = g.chooseLanes(ctx, g.newPhase(ctx, 0))
		stop()
		<-fed
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range g.lanes {
			compareEntry(t, strings.Fields(want[i]), l)
		}
	}
}

func compareEntry(t *testing.T, want []string, l *replaySlot) {
	t.Helper()
	if turn, untimed := strings.CutPrefix(want[5], "turn="); untimed {
		if got := fmt.Sprint(l.streams[0].next); got != turn || len(l.streams) != 1 || l.streams[0].primes != l.streams[0].next-1 {
			t.Errorf("%v: entered at turn %s", want, got)
		}
		return
	}
	at := map[string]*stream{}
	for _, s := range l.streams {
		at[s.ses.Shape.ID] = s
	}
	if len(at) != len(want)-5 {
		t.Errorf("%v: %d sessions", want, len(at))
		return
	}
	for _, one := range want[5:] {
		one, waits := strings.CutSuffix(one, "w")
		id, rest, _ := strings.Cut(one, ":")
		turn, offset, _ := strings.Cut(rest, "@")
		due, _ := strconv.ParseInt(offset, 10, 64)
		s := at[id]
		if s == nil || fmt.Sprint(s.next) != turn || s.waits != waits || s.offset < due-2 || s.offset > due+2 || s.primes != s.next-1 {
			t.Errorf("%v: %s is %+v", want, id, s)
		}
	}
}
