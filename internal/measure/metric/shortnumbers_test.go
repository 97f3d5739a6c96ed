package metric

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// approximate returns a summary with limits that are too wide, for a number of statistics of each of these metrics.
func approximate(stats int, tags ...string) *Summary {
	s := &Summary{byTag: map[string]int{}, Bounds: Bounds{}}
	for i, tag := range tags {
		m, _ := Lookup(tag)
		values := noStats()
		for k, stat := range judgedStats {
			values[stat] = 1000
			if k >= len(judgedStats)-stats {
				s.Bounds.set(tag, stat, 100, 1000)
			}
		}
		s.Results, s.byTag[tag] = append(s.Results, Result{m, values}), i
	}
	return s
}

// TestShort: every verdict has a clause that fits next to its label in 80 columns, with the figure that decided it.
func TestShort(t *testing.T) {
	same := func(*ClientStats) {}
	for _, c := range []struct {
		from ClientStats
		turn func(*ClientStats)
		run  *Summary
		want string
	}{
		{calm(), same, nil, "valid"},
		{open(), same, nil, "valid"},
		{calm(), func(e *ClientStats) { e.Uncertain, e.UncertainGaps = 93, 93 }, nil, "valid; gaps approximate (93 % of requests)"},
		{calm(), func(e *ClientStats) {
			e.StreamAnswers, e.LumpedAnswers, e.LumpEvents, e.LumpInterval = 100, 84, 20, 200*msec
		}, nil, "valid; stream in bursts (84 % of answers)"},
		{calm(), same, approximate(1, "time_to_first_token"), "uncertain: TTFT p99"},
		{calm(), same, approximate(2, "time_to_first_token", "inter_token_latency"), "uncertain: TTFT p90 p99, ITL p90 p99"},
		{calm(), same, approximate(4, judgedTags...), "uncertain: TTFT, ITL, latency (12 of 12 figures)"},
		{open(), func(e *ClientStats) { e.Sent = 900 }, approximate(1, "request_latency"), "uncertain: latency p99"},
		{calm(), func(e *ClientStats) { e.CPUShare = 0.97 }, nil, "client limited: 97 % of 2 cores used"},
		{calm(), func(e *ClientStats) { e.FileLimitHits = 1_000_000 }, nil, "client limited: 1,000,000 connections hit its own limits"},
		{calm(), func(e *ClientStats) { e.FileLimitHits = 4 }, nil, "client limited: 4 connections hit its own limits"},
		{open(), func(e *ClientStats) { e.Sent, e.Lost.Client = 900, 100 }, nil, "client limited: 90.0 % of the schedule sent"},
		{calm(), func(e *ClientStats) { e.Slots, e.SlotTime, e.SlotTimeLost = 16, 16*time.Second, 11300*msec }, nil, "client limited: 4.7 of 16 slots in use"},
		{open(), func(e *ClientStats) { e.Reanchors, e.ReanchorLost = 9, time.Second }, nil, "client limited: 1.00 s of the schedule lost"},
		{open(), func(e *ClientStats) { e.OwnLagP99 = 11 * msec }, nil, "client limited: requests 11 ms late at p99"},
		{open(), func(e *ClientStats) { e.Sent, e.Lost.Cap = 600, 400 }, nil, "server limited: 60.0 % of the schedule sent"},
		{open(), func(e *ClientStats) { e.CapShare, e.BusyShare = .4, .4 }, nil, "server limited: every slot in use 40 % of the time"},
		{open(), func(e *ClientStats) { e.Sent, e.Lost.NoTurn = 600, 400 }, nil, "rate not reached: 60.0 % of the schedule sent"},
		{calm(), func(e *ClientStats) { e.Valid, e.Failed = 0, 8269 }, nil, "no result: 0 of 8,269 requests succeeded"},
		{calm(), func(e *ClientStats) { e.Valid = 0 }, nil, "no result"},
	} {
		e := c.from
		c.turn(&e)
		v := Assess(e, c.run, nil)
		want := c.want
		if utf8.RuneCountInString(want) > ShortMost { // a text that does not fit is omitted, never cut
			want, _, _ = strings.Cut(want, ":")
		}
		if got := v.Short(); got != want {
			t.Errorf("%q, want %q: %s", got, want, v.Sentence())
		}
	}
	for _, word := range []Verdict{VerdictValid, VerdictUncertain, VerdictClientLimited, VerdictServerLimited, VerdictRateNotReached, VerdictNoResult} {
		if got := (&Validity{Verdict: word}).Short(); got != string(word) {
			t.Errorf("a verdict without figures is %q, want %q", got, word)
		}
	}
}

// TestSeparators: numbers from 1,000 on have thousands separators in every sentence of a verdict.
func TestSeparators(t *testing.T) {
	e := open()
	e.Valid, e.Failed, e.Uncertain, e.UncertainFirst, e.UncertainGaps = 8269, 1731, 5000, 4000, 5000
	e.Drawn, e.Sent, e.RateSeconds, e.LateAnswers = 123456, 98765, 10, 7000
	e.PacketStamps, e.Messages, e.PacketsLost = 12345, 23456, 1111
	e.StallLongest, e.StallTotal, e.Stalls = 1234*time.Second, 5678*time.Second, 2222
	e.SilenceCount, e.SilenceLongest, e.SilenceAt, e.SilenceWaiting = 1, 2*time.Second, 3333*time.Second, 4444
	e.Paths, e.ResentRequests, e.ResentSegments, e.UnorderedRequests, e.RemotePaths = 9999, 5555, 6666, 7777, 9999
	e.OneMessage, e.Spilled, e.TicksSkipped, e.Uncounted = 1010, 2020, 3030, 4040
	e.SentRate, e.AnsweredRate, e.EarlyLatency, e.LateLatency = 12345.6, 6543.2, time.Second, 9*time.Second
	e.QueueCorrelation, e.QueueSeconds = .9, 3600
	v := Assess(e, approximate(1, "request_latency"), nil)
	all := v.Reason + "\n" + strings.Join(v.Notes, "\n") + "\n" + e.Instants()
	for _, want := range []string{"98,765 of 123,456 requests", "9,876", "7,000 turns", "12,345 of 23,456 events, 1,111 packets lost", "1,731 of 10,000 requests failed", "1,234.00 s", "2,222 times",
		"3,333.0 – 3,335.0 s", "4,444 requests waited", "5,555 of 9,999 requests", "6,666 segments", "7,777", "5,000 of 8,269", "12,346 requests/s", "6,543 of", "3,600 s", "100 to 1,000 ms"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	digits := 0
	for i, r := range all {
		if digits++; r < '0' || r > '9' {
			digits = 0
		}
		if digits > 3 {
			t.Errorf("four digits in a row: …%s…", all[max(0, i-30):i+1])
		}
	}
}

// TestDurationsWithoutExponent: a duration just below a unit is written in that unit.
func TestDurationsWithoutExponent(t *testing.T) {
	for d, want := range map[time.Duration]string{999_600_000: "1.00 s", 999_400_000: "999 ms", 999_600: "1 ms", 999_400: "999 µs", time.Second: "1.00 s", 1500: "1.5 µs"} {
		if got := formatDuration(d); got != want {
			t.Errorf("%d ns: %q, want %q", d, got, want)
		}
	}
}
