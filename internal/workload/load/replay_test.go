package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// replayed is a scenario of a warm-up and a measured phase over recordings that are entered in their middle, unless p says else.
func replayed(p Phase) Scenario {
	p.Name, p.Mode = "profiling", AgenticReplay
	if p.Replay.To == 0 {
		p.Replay.From, p.Replay.To = 0.5, 0.5
	}
	warm := Phase{Name: "warm", Warmup: true, Mode: AgenticReplay, Concurrency: p.Concurrency, Prefill: p.Prefill, Replay: p.Replay, Grace: -1}
	p.Replay.Pressure = 0
	return Scenario{Phases: []Phase{warm, p}}
}

// raw is a replay that takes the recorded times as they are.
func raw() Replay { return Replay{From: 0.5, To: 0.5, IdleCap: -1, LeadCap: -1} }

// told returns what was sent in a phase: conversation.turn@ms after its start.
func told(f *PhaseStats, list []*sending) string {
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprintf("%d.%d@%d", v.Conversation, v.Turn, (v.At-f.Started)/int64(ms)))
	}
	return strings.Join(out, " ")
}

// delayed gives the turns after the first one the pauses between them, as a server without service time had them.
func delayed(s *shapes) *shapes {
	for i := range s.list {
		turns := s.list[i].Turns
		for k := 1; k < len(turns); k++ {
			d := *turns[k].Timestamp - *turns[k-1].Timestamp
			turns[k].Delay = &d
		}
	}
	return s
}

// pair are two recordings: one of an agent that starts another and waits for it, and a plain one.
func pair() *shapes {
	a, b := recordedAt("a", 0, 400, 3000, 4000), recordedAt("b", 0, 1000, 1800, 2000)
	s := delayed(&shapes{list: []Shape{a, b}})
	start(&s.list[0], 1, 2, 2, "a1", 500, 2500)
	wait := 1000.0
	s.list[0].Turns[1].Branches[0].Shape.Turns[1].Delay = &wait
	return s
}

// TestReplay: the turn before the entry of every session under way primes the cache, so timed that all lanes reach their entry together; then each
// continues at its recorded distance, agents that wait for another agent wait, and a lane that has ended begins the next conversation at its first turn.
func TestReplay(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(p *Phase)
		warm, then string
	}{
		// a is entered at 2000, with turn 1 (400) and a1's turn 0 (500) behind it; b at 1000, with its turn 0. Answers take 10 ms.
		"spread":      {func(*Phase) {}, "0.1@0 2.0@100 1.0@600", "1.1@0 2.1@500 0.2@510 1.2@810"},
		"together":    {func(p *Phase) { p.Replay.Together = true }, "0.1@0 2.0@0 1.0@0", "2.1@0 1.1@0 0.2@10 1.2@810"},
		"capped lead": {func(p *Phase) { p.Replay.LeadCap = 100 * ms }, "0.1@0 2.0@0 1.0@0", "1.1@0 2.1@100 0.2@110 1.2@810"},
		"no idle":     {func(p *Phase) { p.Replay.IdleCap = 50 * ms }, "0.1@0 2.0@60 1.0@120", "1.1@0 2.1@60 0.2@70 1.2@130"},
	} {
		bubble(t, name, func(t *testing.T) {
			p := Phase{Concurrency: 2, Requests: 60, Replay: raw()}
			c.change(&p)
			s := newSim(t, manner{total: 10 * ms})
			r := play(t, replayed(p), pair(), s)
			if got := told(r.Phases[0], s.phase("warm")); got != c.warm {
				t.Errorf("primed %s\nwant   %s", got, c.warm)
			}
			sent := s.phase("profiling")
			if got := told(r.Phases[1], sent[:4]); got != c.then {
				t.Errorf("sent %s\nwant %s", got, c.then)
			}
			next := slices.IndexFunc(sent, func(v *sending) bool { return v.Turn == 0 && v.Conversation < 2 })
			if last := sent[next-1]; last.Turn != 3 || sent[next].At != last.end || sent[next].Conversation != 0 {
				t.Errorf("the first conversation that is played whole: %+v after %+v", sent[next], last)
			}
		})
	}
}

// TestReplayKeepsTheRecordedOrder: a turn waits for the turns of other sessions that it followed in the recording, whatever their service times are
// now; recordings that contradict themselves continue anyway.
func TestReplayKeepsTheRecordedOrder(t *testing.T) {
	for name, c := range map[string]struct {
		after []TurnRef // of the main session's turn 2
		want  string
	}{
		"free":          {nil, "0.0@0 1.0@100 0.1@100 0.2@200 1.1@350 "},
		"ordered":       {[]TurnRef{{1, 0}}, "0.0@0 1.0@100 0.1@100 1.1@350 0.2@350 "},
		"contradicting": {[]TurnRef{{1, 1}}, "0.0@0 1.0@100 0.1@100 0.2@"},
	} {
		bubble(t, name, func(t *testing.T) {
			s := newSim(t, manner{})
			s.behave = func(r *Request) manner {
				if r.Session.Conversation == 1 {
					return manner{total: 250 * ms}
				}
				return manner{total: 100 * ms}
			}
			source := talk(1, 3, 0)
			child := &Shape{ID: "child", Turns: make([]TurnTime, 2)}
			source.list[0].Turns[0].Branches = []Branch{{Conversation: 1, Shape: child}}
			source.list[0].Turns[2].After = c.after
			if name == "contradicting" {
				child.Turns[1].After = []TurnRef{{0, 2}}
			}
			// entered at its first turn: two turns and no times leave no other
			p := Phase{Name: "profiling", Mode: AgenticReplay, Concurrency: 1, Sessions: 2, Replay: Replay{IdleCap: -1, LeadCap: -1}}
			r := play(t, Scenario{Phases: []Phase{p}}, source, s)
			f := r.Phases[0]
			list := slices.DeleteFunc(s.phase("profiling"), func(v *sending) bool { return v.Session == s.phase("profiling")[0].Session })
			at := list[0].At
			got := ""
			for _, v := range list {
				got += fmt.Sprintf("%d.%d@%d ", v.Conversation, v.Turn, (v.At-at)/int64(ms))
			}
			if !strings.HasPrefix(got, c.want) || f.Unsent != 0 || f.SessionsCompleted != 2 {
				t.Errorf("sent %s, %d unsent, %d sessions; want %s", got, f.Unsent, f.SessionsCompleted, c.want)
			}
		})
	}
}

// TestReplayUnderPressure: after the priming the agents continue without pauses for a while, and the measured phase continues from there, with
// the rest of the pauses that were under way.
func TestReplayUnderPressure(t *testing.T) {
	bubble(t, "handed over", func(t *testing.T) {
		source := delayed(&shapes{list: []Shape{recordedAt("a", 0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000)}})
		p := Phase{Concurrency: 1, Sessions: 1, Replay: raw()}
		p.Replay.From, p.Replay.To = 0.3, 0.3
		p.Replay.Pressure = 250 * ms
		s := newSim(t, manner{total: 100 * ms})
		r := play(t, replayed(p), source, s)
		// primed: turn 2. Pressed from 100 on: turns 3, 4 and, at 300, 5, whose answer comes at 400, after the end of the sending at 350.
		if got, want := told(r.Phases[0], s.phase("warm")), "0.2@0 0.3@100 0.4@200 0.5@300"; got != want {
			t.Errorf("warm-up %s\nwant    %s", got, want)
		}
		if got, want := told(r.Phases[1], s.phase("profiling")), "0.6@1000 0.7@2100 0.8@3200"; got != want {
			t.Errorf("sent %s\nwant %s", got, want)
		}
		if a, b := s.phase("warm")[0].Session, s.phase("profiling")[0].Session; a != b {
			t.Error("the session has another id in the measured phase")
		}
	})
	bubble(t, "grace", func(t *testing.T) {
		scenario := replayed(Phase{Concurrency: 1, Sessions: 1, Replay: raw()})
		scenario.Phases[0].Replay.Pressure, scenario.Phases[0].Grace = 10*ms, 50*ms
		s := newSim(t, manner{total: 10 * ms})
		s.behave = func(r *Request) manner {
			if r.Turn > 1 {
				return manner{total: time.Hour}
			}
			return manner{total: 10 * ms}
		}
		if _, err := playReplay(t, scenario, talk(1, 9, 0), s); err == nil || !strings.Contains(err.Error(), "grace period of 50ms") {
			t.Error(err)
		}
	})
}

func playReplay(t *testing.T, scenario Scenario, source Source, s *sim) (*Result, error) {
	t.Helper()
	return playCtx(t, context.Background(), scenario, Options{Source: source, Executor: s})
}

// TestReplayNeedsWarmCaches: a failed priming request ends the run before anything is measured; that of an agent which another one started does not.
func TestReplayNeedsWarmCaches(t *testing.T) {
	for _, conversation := range []int{0, 1, 2} {
		bubble(t, fmt.Sprint(conversation), func(t *testing.T) {
			s := newSim(t, manner{})
			s.behave = func(r *Request) manner {
				return manner{total: 10 * ms, fail: r.Phase.Primes && r.Session.Conversation == conversation}
			}
			r, err := playReplay(t, replayed(Phase{Concurrency: 2, Requests: 4, Replay: raw()}), pair(), s)
			if main := conversation < 2; main != (err != nil) || main != (len(r.Phases) == 1) {
				t.Errorf("%v, %d phases", err, len(r.Phases))
			}
		})
	}
}

// TestReplayEndsWhatOverflows: a conversation whose prompt the model cannot hold is ended; the lane takes the next one.
func TestReplayEndsWhatOverflows(t *testing.T) {
	bubble(t, "overflow", func(t *testing.T) {
		s := newSim(t, manner{total: 10 * ms})
		s.overflow = func(r *Request) bool { return r.Turn == 3 && !r.Phase.Primes }
		f := play(t, replayed(Phase{Concurrency: 1, Sessions: 3, Replay: raw()}), talk(1, 9, 0), s).Phases[1]
		for _, v := range s.phase("profiling") {
			if v.Turn > 3 && v.Session != s.phase("profiling")[0].Session {
				t.Errorf("turn %d after an overflow", v.Turn)
			}
		}
		wantCount(t, "cut sessions", int(f.SessionsCancelled), 2)
	})
}

// TestReplayNeedsConversations: there must be something to enter.
func TestReplayNeedsConversations(t *testing.T) {
	bubble(t, "single turns", func(t *testing.T) {
		_, err := playReplay(t, replayed(Phase{Concurrency: 2, Requests: 4, Replay: raw()}), talk(3, 1, 0), newSim(t, manner{total: ms}))
		if err == nil || !strings.Contains(err.Error(), "none of the 3 conversations") {
			t.Error(err)
		}
	})
}

// TestReplayOfAnything: whatever recordings, limits and failures, every slot comes back, every turn of a started session is sent or counted as unsent,
// no session overlaps itself and the run ends.
func TestReplayOfAnything(t *testing.T) {
	for seed := range uint64(60) {
		bubble(t, fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			source := anyRecordings(r)
			p := Phase{Concurrency: 1 + r.IntN(4), Replay: Replay{From: 0.1, To: 0.9, IdleCap: time.Duration(r.IntN(3)-1) * 20 * ms, LeadCap: time.Duration(r.IntN(3)-1) * 30 * ms}}
			p.Replay.Together, p.Replay.Pressure = r.IntN(2) == 0, time.Duration(r.IntN(2)*r.IntN(300))*ms
			switch r.IntN(3) {
			case 0:
				p.Requests = 1 + r.Int64N(40)
			case 1:
				p.Sessions = 1 + r.Int64N(8)
			default:
				p.Duration, p.Grace = time.Duration(1+r.IntN(3000))*ms, time.Duration(r.IntN(3))*20*ms
			}
			if r.IntN(3) == 0 {
				p.Prefill = 1 + r.IntN(2)
			}
			s := newSim(t, manner{})
			fail, slow := r.IntN(4) == 0, r.IntN(80)
			s.behave = func(q *Request) manner {
				return manner{total: time.Duration(1+slow*(q.Turn+q.Session.Conversation)%97) * ms, fail: fail && !q.Phase.Primes && q.Turn%2 == 1}
			}
			s.overflow = func(q *Request) bool { return fail && !q.Phase.Primes && q.Turn == 3 }
			scenario := replayed(p)
			scenario.GraphFailFast = r.IntN(4) == 0
			result, err := playReplay(t, scenario, source, s)
			if err != nil {
				t.Fatal(err)
			}
			f := result.Phases[len(result.Phases)-1]
			if f.SessionsCompleted+f.SessionsCancelled != f.SessionsSent || f.StoppedBy == "" {
				t.Errorf("%d sessions, %d completed, %d cut, stopped by %q", f.SessionsSent, f.SessionsCompleted, f.SessionsCancelled, f.StoppedBy)
			}
			if p.Requests > 0 && f.Sent != p.Requests {
				t.Errorf("%d sent of %d", f.Sent, p.Requests)
			}
		})
	}
}

// anyRecordings are recordings of agents with pauses, agents that they start, and an order among their turns.
func anyRecordings(r *rand.Rand) *shapes {
	s := &shapes{}
	kids := 0
	n := 1 + r.IntN(4)
	for i := range n {
		line := func(id string, from float64) Shape {
			at := from
			var times []float64
			for range 2 + r.IntN(5) {
				times = append(times, at)
				at += float64(r.IntN(300))
			}
			return delayed(&shapes{list: []Shape{recordedAt(id, times...)}}).list[0]
		}
		root := line(fmt.Sprintf("r%d", i), 0)
		for range r.IntN(4) {
			k := r.IntN(len(root.Turns))
			kid := line(fmt.Sprintf("k%d", kids), *root.Turns[k].Timestamp+float64(r.IntN(50)))
			join := 0
			if k+1 < len(root.Turns) && r.IntN(2) == 0 {
				join = k + 1 + r.IntN(len(root.Turns)-k-1)
			}
			at := n + kids
			kids++
			for range r.IntN(3) { // in whatever order, contradictions too
				kid.Turns[r.IntN(len(kid.Turns))].After = []TurnRef{{i, r.IntN(len(root.Turns))}}
				late := &root.Turns[r.IntN(len(root.Turns))]
				late.After = append(late.After, TurnRef{at, r.IntN(len(kid.Turns))})
			}
			root.Turns[k].Branches = append(root.Turns[k].Branches, Branch{Conversation: at, Shape: &kid, Join: join, Before: r.IntN(3) == 0})
		}
		s.list = append(s.list, root)
	}
	return s
}
