package metric

import (
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

const msec = time.Millisecond

// calm is a closed loop that went well, open an open one.
func calm() ClientStats {
	return ClientStats{CPUShare: 0.2, Cores: 2, CPUTime: time.Second, ReadDelays: 100, ReadDelayP50: 10 * time.Microsecond, ReadDelayP99: 100 * time.Microsecond,
		Valid: 100, Messages: 1000, BacklogSize: 1024, StallLongest: msec / 5}
}

func open() ClientStats {
	e := calm()
	e.ScheduleStats = ScheduleStats{OpenLoop: true, RateSeconds: 10, Asked: 1000, Drawn: 1000, Sent: 1000, LagP99: 80 * time.Microsecond, OwnLagP99: 80 * time.Microsecond}
	return e
}

func TestAssess(t *testing.T) {
	flags := func(key string) string { return map[string]string{"endpoint.capture": "--capture"}[key] }
	for _, c := range []struct {
		name    string
		from    ClientStats
		turn    func(*ClientStats)
		verdict Verdict
		says    string
	}{
		{"closed loop", calm(), func(*ClientStats) {}, VerdictValid, "spare capacity"},
		{"open loop", open(), func(*ClientStats) {}, VerdictValid, "The schedule was kept (p99 80 µs late) and the client had spare capacity."},
		{"on a busy machine", calm(), func(e *ClientStats) { e.MachineCPU = 100 }, VerdictValid, "Average, p50, p90 and p99 of latencies are accurate to 50 µs, although this machine was busy."},
		{"after waiting for a CPU", open(), func(e *ClientStats) { e.ThreadWait, e.ReadDelayP99 = 3*time.Second, 2*msec }, VerdictValid, "The schedule was kept (p99 80 µs late) and average, p50, p90 and p99 of latencies are accurate to 50 µs, although this machine was busy."},
		{"rate just reached", open(), func(e *ClientStats) { e.Sent = 991 }, VerdictValid, ""},
		{"rate missed, nobody knows why", open(), func(e *ClientStats) { e.Sent = 900 }, VerdictRateNotReached, "90.0 % of the schedule was sent (900 of 1,000 requests, 90 of 100 requests/s)"},
		{"cut short", open(), func(e *ClientStats) { e.Sent, e.CancelledByUser = 500, true }, VerdictValid, ""},
		{"a draw below its mean is no cause", open(), func(e *ClientStats) { e.Drawn, e.Sent = 900, 900 }, VerdictValid, ""},
		{"the sentence uses the figures of its test", open(), func(e *ClientStats) { e.Drawn, e.Sent = 1100, 1000 }, VerdictRateNotReached, "90.9 % of the schedule was sent (1,000 of 1,100 requests, 100 of 110 requests/s)"},
		{"all sent, later", open(), func(e *ClientStats) {
			e.Drawn, e.Sent, e.Lost.Client, e.Reanchors, e.ReanchorLost = 10.48, 10, 0.48, 1, 48*msec
		}, VerdictClientLimited, "95.4 % of the scheduled rate was sent (1 of 1.048 requests/s): the client fell behind (its schedule restarted once and lost 48 ms)."},
		{"slots taken by requests", open(), func(e *ClientStats) { e.CapShare, e.BusyShare = 0.4, 0.4 }, VerdictServerLimited, "Requests waited for a slot: requests in flight used every slot for 40.0 % of the sending time. The server answered too slowly for this rate, or the concurrency limit is too low for it."},
		{"slots taken, rate missed", open(), func(e *ClientStats) { e.CapShare, e.BusyShare, e.Sent, e.Lost.Cap = 0.4, 0.4, 600, 400 }, VerdictServerLimited, "60.0 % of the schedule was sent"},
		{"slots taken in the users' own delays", open(), func(e *ClientStats) { e.CapShare = 0.4 }, VerdictValid, ""},
		{"such delays keep the rate down", open(), func(e *ClientStats) { e.CapShare, e.Sent, e.Lost.InDelay = 0.4, 600, 400 }, VerdictRateNotReached, "sessions that paused between two turns"},
		{"prefill cap", open(), func(e *ClientStats) { e.PrefillShare, e.Sent, e.Lost.Prefill = 0.9, 600, 400 }, VerdictRateNotReached, "limit of requests in prefill was reached for 90.0 %"},
		{"no turn to send", open(), func(e *ClientStats) { e.Sent, e.Lost.NoTurn = 600, 400 }, VerdictRateNotReached, "none had a turn to send"},
		{"users waited for answers", open(), func(e *ClientStats) { e.Sent, e.LateAnswers = 600, 70 }, VerdictServerLimited, "70 turns came due before the server had answered"},
		{"the client gave arrivals up", open(), func(e *ClientStats) {
			e.Sent, e.Lost.Client, e.Reanchors, e.ReanchorLost, e.Stalls, e.StallLongest = 900, 100, 1, time.Second, 1, time.Second
		}, VerdictClientLimited, "its schedule restarted once and lost 1.00 s; it was paused once, longest 1.00 s"},
		{"late", open(), func(e *ClientStats) { e.LagP99, e.OwnLagP99 = 11*msec, 11*msec }, VerdictClientLimited, "left 11 ms late at p99 (allowed: 10 ms)"},
		{"late for want of slots", open(), func(e *ClientStats) { e.LagP99 = time.Second }, VerdictValid, ""},
		{"late, slow rate", open(), func(e *ClientStats) { e.OwnLagP99, e.Asked, e.Drawn, e.Sent = 11*msec, 20, 20, 20 }, VerdictValid, ""},
		{"reanchored", open(), func(e *ClientStats) { e.Reanchors, e.ReanchorLost = 2, 3*time.Second }, VerdictClientLimited, "restarted 2 times and lost 3.00 s"},
		{"reanchored, almost nothing lost", open(), func(e *ClientStats) { e.Reanchors, e.ReanchorLost, e.Lost.Client = 1, 12700*time.Microsecond, 1 }, VerdictValid, "The schedule was kept"},
		{"reanchored, just allowed", open(), func(e *ClientStats) { e.Reanchors, e.ReanchorLost = 9, 100*msec }, VerdictValid, ""},
		{"reanchored, more than one percent", open(), func(e *ClientStats) { e.Reanchors, e.ReanchorLost = 9, 101*msec }, VerdictClientLimited, "restarted 9 times and lost 101 ms"},
		{"reanchored in a ramp that never ended", open(), func(e *ClientStats) {
			e.Reanchors, e.ReanchorLost, e.RateSeconds, e.Asked, e.Drawn, e.Sent = 1, 13*msec, 0, 0, 0, 0
		}, VerdictClientLimited, "restarted once"},
		{"reanchored and late", open(), func(e *ClientStats) { e.Reanchors, e.ReanchorLost, e.OwnLagP99 = 1, 12*msec, 11*msec }, VerdictClientLimited, "left 11 ms late at p99"},
		{"busy", calm(), func(e *ClientStats) { e.CPUShare = 0.97 }, VerdictClientLimited, "97 % of its 2 cores"},
		{"slow reads of kernel stamps", calm(), func(e *ClientStats) { e.ReadDelayP99 = 80 * msec }, VerdictValid, ""},
		{"stopped, and captured", calm(), func(e *ClientStats) { e.Stalls, e.StallLongest, e.StallTotal = 3, 298*msec, 890*msec }, VerdictValid, ""},
		{"gaps alone", calm(), func(e *ClientStats) { e.Uncertain, e.UncertainGaps = 40, 40 }, VerdictValid, "Average, p50, p90 and p99 of latencies are accurate to 50 µs. In 40.0 % of the requests aiperf read some tokens together, so single gaps between tokens are approximate."},
		{"out of ports", calm(), func(e *ClientStats) { e.FileLimitHits = 4 }, VerdictClientLimited, "4 connections failed on its own limits"},
		{"nothing succeeded", calm(), func(e *ClientStats) { e.Valid, e.Failed, e.CPUShare = 0, 100, 0.97 }, VerdictNoResult, "No request succeeded"},
		{"nothing measured", calm(), func(e *ClientStats) { e.Valid = 0 }, VerdictNoResult, "No request of a measured phase has finished."},
		{"gaps of few requests", calm(), func(e *ClientStats) { e.Valid, e.Uncertain, e.UncertainGaps = 5, 1, 1 }, VerdictValid, "In 1 of 5 requests aiperf read some tokens together"},
		{"bursts", calm(), func(e *ClientStats) { e.StreamAnswers, e.LumpedAnswers, e.LumpEvents = 9, 9, 5 }, VerdictValid, "a proxy or the server buffers it. This"},
		{"bursts on a busy machine", calm(), func(e *ClientStats) { e.StreamAnswers, e.LumpedAnswers, e.LumpEvents, e.MachineCPU = 9, 9, 5, 100 }, VerdictValid, "a proxy or the server buffers it, or this busy machine delayed it. This"},
		{"nothing succeeded, out of ports", calm(), func(e *ClientStats) { e.Valid, e.Failed, e.FileLimitHits = 0, 100, 100 }, VerdictClientLimited, "own limits"},
		{"busy and capped", open(), func(e *ClientStats) { e.CPUShare, e.BusyShare = 0.97, 0.5 }, VerdictClientLimited, "97 %"},
	} {
		e := c.from
		c.turn(&e)
		v := Assess(e, nil, flags)
		if v.Verdict != c.verdict || !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: %s", c.name, v.Sentence())
		}
	}
}

// stated is a summary whose TTFT has one p99 and one range for it, all in ms, and exact other figures.
func stated(p99, low, high float64) *Summary {
	ttft, _ := Lookup("time_to_first_token")
	latency, _ := Lookup("request_latency")
	values := noStats()
	values[Avg], values[P50], values[P90], values[P99] = 100, 100, 120, p99
	s := &Summary{Results: []Result{{ttft, values}, {latency, values}}, byTag: map[string]int{ttft.Tag: 0, latency.Tag: 1}, Bounds: Bounds{}}
	s.Bounds.set(ttft.Tag, P99, low, high)
	return s
}

// TestAssessDoubt: figures that are known only approximately turn a verdict into "uncertain", named with their ranges and the cause.
func TestAssessDoubt(t *testing.T) {
	flags := func(key string) string { return map[string]string{"endpoint.capture": "--capture"}[key] }
	for _, c := range []struct {
		name    string
		from    ClientStats
		turn    func(*ClientStats)
		run     *Summary
		verdict Verdict
		says    []string
	}{
		{"stopped three times", calm(), func(e *ClientStats) { e.Stalls, e.StallLongest = 3, 298*msec }, stated(361, 140, 361), VerdictUncertain,
			[]string{"because it was stopped 3 times (longest 298 ms)", "TTFT (p99 140 to 361 ms)", "The other averages, p50, p90 and p99 of TTFT, ITL and latency are accurate to 4 %", "--capture auto"}},
		{"starved", calm(), func(e *ClientStats) { e.ThreadWait = 3 * time.Second }, stated(150, 140, 150), VerdictUncertain,
			[]string{"waited for a free CPU (3.00 s in all, 75 % of the time it wanted to run)"}},
		{"captured", calm(), func(e *ClientStats) { e.PacketStamps = 9 }, stated(150, 140, 150), VerdictUncertain, []string{"TTFT (p99 140 to 150 ms)"}},
		{"starved and busy", calm(), func(e *ClientStats) { e.CPUShare = 0.97 }, stated(150, 140, 150), VerdictClientLimited, []string{"97 % of its 2 cores. aiperf read some answers late"}},
		{"starved and capped", open(), func(e *ClientStats) { e.BusyShare = 0.4 }, stated(150, 140, 150), VerdictUncertain, []string{"Besides, server limited: "}},
		{"nothing succeeded", calm(), func(e *ClientStats) { e.Valid, e.Failed = 0, 9 }, stated(150, 140, 150), VerdictNoResult, []string{"No request succeeded"}},
		{"4.1 %", calm(), func(*ClientStats) {}, stated(1000, 959, 1000), VerdictUncertain, nil},
		{"3.9 %", calm(), func(*ClientStats) {}, stated(1000, 961, 1000), VerdictValid, []string{"spare capacity"}},
		{"3.9 % on a busy machine", calm(), func(e *ClientStats) { e.MachineCPU = 99 }, stated(1000, 961, 1000), VerdictValid, []string{"Average, p50, p90 and p99 of latencies are accurate to 3.9 %, although this machine was busy."}},
		{"40 µs of 100 µs", calm(), func(*ClientStats) {}, stated(0.1, 0.06, 0.1), VerdictValid, nil},
		{"60 µs of 100 µs", calm(), func(*ClientStats) {}, stated(0.1, 0.04, 0.1), VerdictUncertain, nil},
		{"gaps too", calm(), func(e *ClientStats) { e.UncertainGaps = 40 }, stated(1000, 970, 1000), VerdictValid, []string{"Average, p50, p90 and p99 of latencies are accurate to 3 %.", "In 40.0 % of the requests aiperf read some tokens together"}},
	} {
		e := c.from
		c.turn(&e)
		v := Assess(e, c.run, flags)
		if v.Verdict != c.verdict {
			t.Errorf("%s: %s", c.name, v.Sentence())
		}
		for _, say := range c.says {
			if !strings.Contains(v.Reason, say) {
				t.Errorf("%s: %q is missing in %s", c.name, say, v.Sentence())
			}
		}
		if c.name == "captured" && strings.Contains(v.Reason, "--capture") {
			t.Errorf("%s: %s", c.name, v.Sentence())
		}
	}
}

func TestNotes(t *testing.T) {
	e := ClientStats{Valid: 90, Failed: 10, GCPauseMax: 30 * msec, Messages: 100, SharedReads: 50, OneMessage: 3, Spilled: 7,
		StallLongest: 300 * msec, Stalls: 3, StallTotal: 900 * msec, CPUTime: time.Second, ThreadWait: time.Second, ReadDelayP99: 2 * msec,
		ScheduleStats: ScheduleStats{TicksSkipped: 2, OpenLoop: true, LagP99: time.Second, CapShare: 0.3, BusyShare: 0.1, PrefillShare: 0.2},
		Trend:         Trend{SentRate: 7.7, AnsweredRate: 2.8, EarlyLatency: time.Second, LateLatency: 9 * time.Second}}
	all := strings.Join(Assess(e, nil, nil).Notes, "\n")
	for _, say := range []string{"10 of 100 requests failed", "not from the kernel", "at most 30 ms", "50 % of the messages", "3 answers arrived in one message", "7 records went through", "2 planned sends",
		"paused for at most 300 ms, 3 times, 900 ms in total", "waited for a free CPU 50 % of the time", "it answered about 2.8 of 7.7 requests/s", "1.00 s after their scheduled times", "20.0 % of the sending time", "none was free for 20.0 %"} {
		if !strings.Contains(all, say) {
			t.Errorf("no note says %q:\n%s", say, all)
		}
	}
	e = open()
	e.Reanchors, e.ReanchorLost = 1, 12700*time.Microsecond
	if notes := Assess(e, nil, nil).Notes; len(notes) != 1 || notes[0] != "The client fell behind its schedule once and skipped 12.7 ms of it: 0.13 %." {
		t.Errorf("one re-anchor: %q", notes)
	}
	e = calm()
	e.StreamAnswers, e.Uncertain, e.FirstErrorMax, e.UncertainGaps, e.GapErrorMax = 9, 9, 717*time.Microsecond, 9, 2*msec
	if notes := strings.Join(Assess(e, nil, nil).Notes, "\n"); !strings.Contains(notes, "may be up to 717 µs late, gaps between tokens up to 2 ms (in 9 requests).") {
		t.Errorf("late reads: %s", notes)
	}
	for _, e := range []ClientStats{{Valid: 100, ReadDelays: 5}, calm(), open(), {Valid: 100, ReadDelays: 5, ReadDelayP99: msec / 2, CPUTime: time.Second, ThreadWait: 5 * time.Second}} {
		if v := Assess(e, nil, nil); len(v.Notes) != 0 {
			t.Errorf("notes without a reason: %v", v.Notes)
		}
	}
}

// TestPaths: by hand, of four requests of which one has no TCP connection and one failed.
func TestPaths(t *testing.T) {
	set, err := NewSelection(Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := set.NewReducer()
	for i, p := range []record.Path{
		{Known: true, SmoothedRTT: 3e6, Resent: 2, Window: 10}, {}, {Known: true, SmoothedRTT: 1e6, Unordered: 4}, {Known: true, SmoothedRTT: 2e6, Resent: 1, Unordered: 1},
	} {
		rec := &record.Record{Start: 1, End: 2, Trace: &record.Trace{Path: p, LocalIP: "10.0.0.2", RemoteIP: "10.0.0.3"}}
		if i == 3 {
			rec.Error = &record.Error{Type: "E"}
		}
		r.Add(set.Row(rec, nil, record.Counts{}))
	}
	u := r.Paths()
	if want := (PathUse{Paths: 3, RemotePaths: 3, ResentRequests: 2, ResentSegments: 3, UnorderedRequests: 2, SmoothedRTT: 2 * msec}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
	e := calm()
	e.PathUse = u
	if say := "2 of 3 requests saw a retransmit (3 segments), 2 a segment"; !strings.Contains(strings.Join(Assess(e, nil, nil).Notes, ""), say) {
		t.Errorf("no note says %q: %v", say, Assess(e, nil, nil).Notes)
	}
	for cause, turn := range map[string]func(*ClientStats){
		"order: the network loses or reorders packets. The median":                           func(*ClientStats) {},
		"order: client and server share a machine":                                           func(e *ClientStats) { e.RemotePaths = 0 },
		"packets, or this machine was too busy to receive them":                              func(e *ClientStats) { e.ThreadWait, e.ReadDelayP99 = time.Second, 2*msec },
		"the network loses or reorders packets, or this machine was too busy to receive the": func(e *ClientStats) { e.StallLongest = 201 * msec },
	} {
		e := e
		if turn(&e); !strings.Contains(e.pathNote(), cause) {
			t.Errorf("%q does not say %q", e.pathNote(), cause)
		}
	}
	s := r.Summary(Window{})
	if got := s.Value("tcp_smoothed_rtt", P50); got != 2 {
		t.Errorf("median round trip %v ms", got)
	}
}

// TestRemote: a connection to this machine uses no network.
func TestRemote(t *testing.T) {
	for ips, want := range map[[2]string]bool{{"10.0.0.2", "10.0.0.3"}: true, {"fd00::2", "fd00::3"}: true, {"127.0.0.1", "127.0.0.1"}: false, {"127.0.0.1", "127.0.1.1"}: false,
		{"::1", "::1"}: false, {"::ffff:127.0.0.1", "::ffff:127.0.0.2"}: false, {"10.0.0.2", "10.0.0.2"}: false, {"", ""}: false} {
		if got := remote(&record.Trace{Path: record.Path{Known: true}, LocalIP: ips[0], RemoteIP: ips[1]}); got != want {
			t.Errorf("%q: %t", ips, got)
		}
	}
	if remote(nil) || remote(&record.Trace{LocalIP: "10.0.0.2", RemoteIP: "10.0.0.3"}) {
		t.Error("a connection that the kernel does not know")
	}
}

// TestTrend: a server that falls behind is distinguished from one that keeps up, also where answers take as long as the run.
func TestTrend(t *testing.T) {
	for _, c := range []struct {
		name    string
		latency func(i int) time.Duration // of request i of 100, one every 100 ms
		behind  bool
	}{
		{"keeps up", func(int) time.Duration { return 300 * msec }, false},
		{"answers take as long as the run", func(int) time.Duration { return 9 * time.Second }, false},
		{"answers one in 300 ms", func(i int) time.Duration { return time.Duration(i+1)*300*msec - time.Duration(i)*100*msec }, true},
	} {
		set, err := NewSelection(Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := set.NewReducer()
		for i := range 100 {
			start := int64(i) * int64(100*msec)
			r.Add(&Row{set: set, Start: start, End: start + int64(c.latency(i)), values: make([]float64, len(set.columns))})
		}
		e := open()
		e.Trend = r.Trend()
		if said := strings.Contains(strings.Join(Assess(e, nil, nil).Notes, ""), "fell behind"); said != c.behind {
			t.Errorf("%s: %+v", c.name, e.Trend)
		}
	}
}

// TestGivenUp: pauses of the machine are a share of the schedule; other reasons for a missing load are not pauses.
func TestGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		e        ClientStats
		share    float64
		hindered bool
	}{
		"kept":       {ClientStats{ScheduleStats: ScheduleStats{OpenLoop: true, RateSeconds: 20, Drawn: 400, Asked: 400}}, 0, false},
		"paused":     {ClientStats{ScheduleStats: ScheduleStats{OpenLoop: true, RateSeconds: 20, Drawn: 400, Reanchors: 9, ReanchorLost: 400 * msec, OwnLagP99: 60 * msec}}, .02, false},
		"not looked": {ClientStats{ScheduleStats: ScheduleStats{OpenLoop: true, RateSeconds: 20, Drawn: 400, Lost: LostArrivals{Client: 100}}}, .25, false},
		"late":       {ClientStats{ScheduleStats: ScheduleStats{OpenLoop: true, RateSeconds: 20, Drawn: 400, Asked: 400, OwnLagP99: 11 * msec}}, 0, true},
		"busy":       {ClientStats{CPUShare: .97}, 0, true},
		"no ports":   {ClientStats{FileLimitHits: 1}, 0, true},
	} {
		if share := c.e.GivenUp(); math.Abs(share-c.share) > 1e-12 || c.e.IsBottleneck() != c.hindered {
			t.Errorf("%s: %v %t, want %v %t", name, share, c.e.IsBottleneck(), c.share, c.hindered)
		}
	}
}

// TestNotesOfFewRequests: a run of fewer requests than p90 needs says so; the note of late tokens leaves out what was on time.
func TestNotesOfFewRequests(t *testing.T) {
	notes := func(turn func(*ClientStats)) string {
		e := calm()
		turn(&e)
		return strings.Join(Assess(e, nil, func(key string) string { return key }).Notes, "\n")
	}
	for want, turn := range map[string]func(*ClientStats){
		"Only 1 request succeeded: the figures describe it, and say little about others. p90 needs 10 requests, p99 needs 100.":                                                    func(e *ClientStats) { e.Valid = 1 },
		"Only 9 requests succeeded: the figures describe them, and say little about others. p90 needs 10 requests, p99 needs 100.":                                                 func(e *ClientStats) { e.Valid = 9 },
		"Before a request left, its connection took 53 ms on average. No latency includes this time; with endpoint.connection_reuse never, every latency includes its connection.": func(e *ClientStats) { e.Connecting, e.ConnectingShare = 53*time.Millisecond, 2.6 },
		"or 1 %. Gaps between tokens may be wrong by up to 2 ms (in 1 request). The":                                                                                               func(e *ClientStats) { e.StreamAnswers, e.Uncertain, e.UncertainGaps, e.GapErrorMax = 9, 1, 1, 2*msec },
		"or 1 %. The first token may be up to 2 ms late (in 1 request). The": func(e *ClientStats) {
			e.StreamAnswers, e.Uncertain, e.UncertainFirst, e.FirstErrorMax = 9, 1, 1, 2*msec
		},
		"aiperf may have noticed answers late: in 1 of 100 requests by more than 1 ms or 1 %. An answer may be up to 2 ms late (in 1 request). The": func(e *ClientStats) { e.Uncertain, e.UncertainFirst, e.FirstErrorMax = 1, 1, 2*msec },
		"or 1 %. The first token may be up to 1 ms late (in 1 request), gaps between tokens up to 2 ms (in 3 requests). The": func(e *ClientStats) {
			e.StreamAnswers = 9
			e.Uncertain, e.UncertainFirst, e.UncertainGaps, e.FirstErrorMax, e.GapErrorMax = 3, 1, 3, msec, 2*msec
		},
	} {
		if got := notes(turn); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	for _, n := range []int64{0, 10, 100} {
		if got := notes(func(e *ClientStats) { e.Valid, e.Failed = n, 1 }); strings.Contains(got, "Only") {
			t.Errorf("%d requests: %s", n, got)
		}
	}
}

// TestAssessSoFar: while a run is in progress, nothing is claimed about the accuracy of its latencies.
func TestAssessSoFar(t *testing.T) {
	busy, loop := calm(), open()
	busy.MachineCPU, loop.MachineCPU = 100, 100
	late := open()
	late.MachineCPU, late.OwnLagP99, late.LagP99 = 100, 90*msec, 90*msec
	for _, c := range []struct {
		e       ClientStats
		verdict Verdict
		want    string
	}{
		{calm(), VerdictValid, "The client had spare capacity."},
		{busy, VerdictValid, "This machine is busy. The end of the run shows how accurate latencies are."},
		{loop, VerdictValid, "The schedule was kept (p99 80 µs late), although this machine is busy. The end of the run shows how accurate latencies are."},
		{late, VerdictClientLimited, "left 90 ms late at p99"},
	} {
		if v := AssessSoFar(c.e, func(key string) string { return key }); v.Verdict != c.verdict || !strings.Contains(v.Reason, c.want) {
			t.Errorf("%s, want %s: %s", v.Sentence(), c.verdict, c.want)
		}
	}
}
