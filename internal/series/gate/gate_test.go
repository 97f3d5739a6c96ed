package gate

import (
	"encoding/xml"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
)

// run is a run with a p99 of the time to first token and some failures.
func run(p99 float64, failed int64) *metric.Run {
	var v [metric.Stats]float64
	for i := range v {
		v[i] = math.NaN()
	}
	v[metric.P99] = p99
	return &metric.Run{Profiling: metric.SummaryOf(map[string][metric.Stats]float64{"time_to_first_token": v}, 98, failed)}
}

func TestParse(t *testing.T) {
	g, err := Parse(" time_to_first_token:p99 >= 2e2")
	if err != nil || g.Tag != "time_to_first_token" || g.Stat != metric.P99 || g.Op != ">=" || g.Limit != 200 {
		t.Errorf("%+v %v", g, err)
	}
	for text, want := range map[string]float64{"time_to_first_token:p99>200 ms": 200, "error_rate>1%": 1, "request_throughput<5 requests/sec": 5, "request_latency:p99>-1e2": -100, "time_to_first_token:p99>0.2s": 200, "request_latency:p99>1m": 60_000, "time_to_first_token:p99>200MS": 200} {
		if g, err := Parse(text); err != nil || g.Limit != want {
			t.Errorf("%s: %+v %v", text, g, err)
		}
	}
	for text, want := range map[string]string{
		"ttft": "is not a limit; write METRIC:STAT>VALUE", "time_to_first_tokn:p99>1": "did you mean time_to_first_token?", "error_rate:p98>1": "no statistic p98", "error_rate>1-": "not a number",
		"time_to_first_token:p99>200parsec": "are in ms, not in parsec", "request_throughput<5s": "are in requests/sec, not in s", "time_to_first_token:p99>200%": "are in ms, not in %", "error_rate>1ms": "are in %, not in ms",
		"error_rate:p99>1": "one value of a run, without p99; write error_rate>1", "request_throughput:p99<5": "write request_throughput<5",
		"request_latency:p99>nan": "is not a number", "request_latency:p99>1e999": "not a number", "request_latency==1": "is not a limit",
		"ttft:p99<10": "is true in a good run, so it would fail good runs", "rps>5": "is true in a good run", "p98.5(e2e)>1": "have no statistic p98.5",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// outcomes are the outcomes of results in one letter each: passed, FAILED, undecided.
func outcomes(list []Result) string {
	var b strings.Builder
	for i := range list {
		b.WriteString(map[Outcome]string{Passed: "p", Failed: "F", Undecided: "u"}[list[i].Outcome])
	}
	return b.String()
}

// TestJudge: hand-computed means; what was not measured fails.
func TestJudge(t *testing.T) {
	gates, err := Parsed([]string{"time_to_first_token:p99>200", "error_rate>1", "inter_token_latency:p50>5"})
	if err != nil {
		t.Fatal(err)
	}
	gates = append(gates, Gate{Text: "error_rate < 1", Tag: errorRate, Op: "<", Limit: 1})
	subjects := []Subject{{Name: "a", Runs: []*metric.Run{run(150, 2), run(260, 2)}}, {Name: "b", Runs: []*metric.Run{run(100, 0)}}, {Name: "c", Fault: "unreachable"}}
	results := Judge(gates, subjects, Options{})
	if got := outcomes(results); got != "FFFp"+"ppFF"+"FFFF" || Count(results, Failed) != 9 {
		t.Errorf("%s, %d failed", got, Count(results, Failed))
	}
	for k, want := range []string{
		"FAILED: a: time_to_first_token p99 is 205 ms; required: at most 200 ms", "FAILED: a: error_rate is 2 %; required: at most 1 %",
		"FAILED: a: inter_token_latency p50 was not measured; required: at most 5 ms", "passed: a: error_rate is 2 %; required: at least 1 %",
	} {
		if s := results[k].Sentence(); s != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
	text, err := JUnit(subjects, results)
	var back struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err != nil || xml.Unmarshal(text, &back) != nil || back.Tests != 15 || back.Failures != 10 {
		t.Errorf("%v %+v\n%s", err, back, text)
	}
	if md := string(StepSummary(subjects, results)); !strings.Contains(md, "| a | – | – | – | 205 |") || !strings.Contains(md, "**failed**: a: error_rate is 2 %; required: at most 1 %") || !strings.Contains(md, "- passed: b: time_to_first_token p99 is 100 ms; required: at most 200 ms") {
		t.Error(md)
	}
}

// judgedRun is a run with a p99 of the time to first token that lies between two values, all in ms, and a verdict.
func judgedRun(low, stated, high float64, verdict metric.Verdict) *metric.Run {
	r := run(stated, 2)
	r.Validity = &metric.Validity{Verdict: verdict, Reason: "why."}
	if low < high {
		r.Validity.Bounds = metric.Bounds{"time_to_first_token": {metric.P99: {Low: low, High: high}}}
	}
	return r
}

// TestOutcomes: the worse and the better end of a value against the limit, every verdict, interrupted and incomplete runs, with and without the stated
// values being taken, and what may decide an undecided gate.
func TestOutcomes(t *testing.T) {
	bounded := func(v metric.Verdict) Subject { return Subject{Runs: []*metric.Run{judgedRun(60, 82, 82, v)}} }
	stopped := bounded("valid")
	stopped.Interrupted = true
	incomplete := bounded("valid")
	incomplete.Runs[0].IncompleteReason = "too many failures"
	unlimited := Subject{Runs: []*metric.Run{judgedRun(60, 82, math.Inf(1), "uncertain")}}
	missed := bounded("uncertain") // its latencies are, and besides it sent half of its schedule
	missed.Runs[0].Validity.ScheduleStats = metric.ScheduleStats{OpenLoop: true, Drawn: 100, Sent: 50, RateSeconds: 1, Asked: 100, Lost: metric.LostArrivals{NoTurn: 50}}
	slow := bounded("uncertain") // besides, requests waited for slots
	slow.Runs[0].Validity.ScheduleStats = metric.ScheduleStats{OpenLoop: true, Drawn: 100, Sent: 50, RateSeconds: 1, Asked: 100, Lost: metric.LostArrivals{Cap: 50}}
	warm, lukewarm := bounded("uncertain"), bounded("valid")
	warm.Runs[0].Validity.CacheUse = metric.CacheUse{CacheSource: "usage", CacheReported: 18, CacheExpectedMax: 8}
	lukewarm.Runs[0].Validity.CacheUse = metric.CacheUse{CacheSource: "usage", CacheReported: 17.9, CacheExpectedMax: 8}
	maybe := bounded("uncertain") // its client may have been the limit
	maybe.Runs[0].Validity.SlotUse = metric.SlotUse{Slots: 4, SlotTime: 10 * time.Second, SlotTimeUnsure: time.Second}
	polled, slowest := bounded("uncertain"), Subject{Runs: []*metric.Run{judgedRun(60, 82, math.Inf(1), "uncertain")}}
	polled.Runs[0].Validity.Polled = 98
	slowest.Runs[0].Validity.TimedOut = 2
	old := Subject{Runs: []*metric.Run{judgedRun(82, 82, 82, "uncertain")}}
	for name, c := range map[string]struct {
		subject Subject
		// outcomes of p99>50, p99>70, p99>90, p99<50, p99<70, p99<90, error_rate>1, error_rate>5
		want, byValue string
	}{
		"valid, exact":                 {Subject{Runs: []*metric.Run{judgedRun(82, 82, 82, "valid")}}, "FFppp" + "FFp", "FFppp" + "FFp"},
		"valid, wide":                  {bounded("valid"), "FuppuF" + "Fp", "FFpppF" + "Fp"},
		"uncertain":                    {bounded("uncertain"), "FuppuF" + "Fp", "FFpppF" + "Fp"},
		"server limited":               {bounded("server limited"), "FuppuF" + "Fp", "FFpppF" + "Fp"},
		"client limited":               {bounded("client limited"), "uuuuuuuu", "FFpppF" + "Fp"},
		"rate not reached":             {bounded("rate not reached"), "uuuuuuuu", "FFpppF" + "Fp"},
		"and rate missed":              {missed, "uuuuuuuu", "FFpppF" + "Fp"},
		"and slow server":              {slow, "FuppuF" + "Fp", "FFpppF" + "Fp"},
		"warm cache":                   {warm, "uuuuuuuu", "FFpppF" + "Fp"},
		"cache a little warm":          {lukewarm, "FuppuF" + "Fp", "FFpppF" + "Fp"},
		"no verdict":                   {Subject{Runs: []*metric.Run{run(82, 2)}}, "FFpppF" + "Fp", "FFpppF" + "Fp"},
		"unlimited":                    {unlimited, "FuupuuFp", "FFpppF" + "Fp"},
		"uncertain, no bounds":         {old, "uuuuuu" + "Fp", "FFpppF" + "Fp"},
		"client perhaps limited":       {maybe, "uuuuuuuu", "FFpppF" + "Fp"},
		"polled":                       {polled, "FuppuF" + "Fp", "FFpppF" + "Fp"},
		"timed out":                    {slowest, "FuupuuFp", "FFpppF" + "Fp"},
		"interrupted":                  {stopped, "uuuuuuuu", "FFpppF" + "Fp"},
		"incomplete":                   {incomplete, "uuuuuuuu", "FFpppF" + "Fp"},
		"never run":                    {Subject{Fault: "not run", Interrupted: true}, "uuuuuuuu", "FFFFFFFF"},
		"one run is missing":           {Subject{Fault: "unreachable", Runs: []*metric.Run{run(82, 2)}}, "uuuuuuuu", "FFpppF" + "Fp"},
		"repeats":                      {Subject{Runs: []*metric.Run{judgedRun(60, 80, 80, "valid"), judgedRun(84, 84, 84, "valid")}}, "FuppuF" + "Fp", "FFpppF" + "Fp"}, // 72 to 82
		"one repeat is client limited": {Subject{Runs: []*metric.Run{judgedRun(82, 82, 82, "valid"), judgedRun(82, 82, 82, "client limited")}}, "uuuuuuuu", "FFpppF" + "Fp"},
	} {
		gates, err := Parsed([]string{
			"time_to_first_token:p99>50", "time_to_first_token:p99>70", "time_to_first_token:p99>90", "time_to_first_token:p99>50", "time_to_first_token:p99>70", "time_to_first_token:p99>90",
			"error_rate>1", "error_rate>5",
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := 3; i < 6; i++ {
			gates[i].Op = "<" // no command line says so of a latency
		}
		if name == "repeats" {
			gates[1].Limit, gates[4].Limit = 75, 75
		}
		results := Judge(gates, []Subject{c.subject}, Options{})
		if got := outcomes(results); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		elsewhere := slices.Contains([]string{"rate not reached", "and rate missed", "warm cache", "interrupted", "incomplete", "never run", "one run is missing"}, name)
		want := map[string]Remedy{"polled": PollMoreOften, "timed out": AwaitAnswers}[name]
		if want == RemoveCause && !elsewhere {
			want = QuieterMachine
		}
		for k := range results {
			if r := &results[k]; r.Outcome == Undecided && r.Remedy != want || r.Outcome != Undecided && r.Remedy != RemoveCause {
				t.Errorf("%s: %s: remedy %d, want %d", name, r.Sentence(), r.Remedy, want)
			}
		}
		if got := outcomes(Judge(gates, []Subject{c.subject}, Options{AllowInvalid: true})); got != c.byValue {
			t.Errorf("%s by stated values: %s, want %s", name, got, c.byValue)
		}
		text, err := JUnit([]Subject{c.subject}, results)
		var back suites
		if err != nil || xml.Unmarshal(text, &back) != nil || back.Errors != Count(results, Undecided) {
			t.Errorf("%s: %v, %d errors, want %d", name, err, back.Errors, Count(results, Undecided))
		}
	}
}

// TestGatesOnAWarmCache: a gate on a run that met a warm cache says so, and a client that was the limit comes first.
func TestGatesOnAWarmCache(t *testing.T) {
	for verdict, want := range map[metric.Verdict]string{
		"uncertain": "a prefix cache was warm before the run", "server limited": "a prefix cache was warm before the run", "client limited": `the verdict is "client limited"`,
	} {
		run := judgedRun(82, 82, 82, verdict)
		run.Validity.CacheUse = metric.CacheUse{CacheSource: "usage", CacheReported: 92}
		s := Subject{Runs: []*metric.Run{judgedRun(82, 82, 82, "valid"), run}}
		if got := s.Doubt(); got != want {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
}

// TestGatesOnUnreadableAnswers: a gate trusts no figure of a run of which more than 1 % of the answers were not read whole.
func TestGatesOnUnreadableAnswers(t *testing.T) {
	for answers, want := range map[int64]string{1: "", 2: "messages of the answers are not JSON"} {
		run := judgedRun(82, 82, 82, "uncertain")
		run.Validity.Valid, run.Validity.UnreadableAnswers = 100, answers
		s := Subject{Runs: []*metric.Run{run}}
		if got := s.Doubt(); got != want {
			t.Errorf("%d of 100 answers: %q, want %q", answers, got, want)
		}
	}
}

// TestWords: sentences, JUnit and the step summary carry ranges and verdicts.
func TestWords(t *testing.T) {
	gates, err := Parsed([]string{"time_to_first_token:p99>70", "time_to_first_token:p99>90"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		verdict metric.Verdict
		o       Options
		want    []string
	}{
		{"uncertain", Options{}, []string{
			"undecided: time_to_first_token p99 is 82 ms (60 to 82 ms); required: at most 70 ms (the limit lies within the range)",
			"passed: time_to_first_token p99 is 82 ms (60 to 82 ms); required: at most 90 ms",
		}},
		{"client limited", Options{}, []string{
			`undecided: time_to_first_token p99 is 82 ms (60 to 82 ms); required: at most 70 ms (cannot be judged: the verdict is "client limited")`,
			`undecided: time_to_first_token p99 is 82 ms (60 to 82 ms); required: at most 90 ms (cannot be judged: the verdict is "client limited")`,
		}},
		{"client limited", Options{AllowInvalid: true}, []string{
			`FAILED: time_to_first_token p99 is 82 ms (60 to 82 ms); required: at most 70 ms (judged by the plain value, although the verdict is "client limited")`,
			`passed: time_to_first_token p99 is 82 ms (60 to 82 ms); required: at most 90 ms (judged by the plain value, although the verdict is "client limited")`,
		}},
		{"uncertain", Options{AllowInvalid: true}, []string{
			"FAILED: time_to_first_token p99 is 82 ms (60 to 82 ms); required: at most 70 ms (judged by the plain value, although the limit lies within its range)",
			"passed: time_to_first_token p99 is 82 ms (60 to 82 ms); required: at most 90 ms",
		}},
	} {
		subjects := []Subject{{Runs: []*metric.Run{judgedRun(60, 82, 82, c.verdict)}}}
		results := Judge(gates, subjects, c.o)
		for k, want := range c.want {
			if got := results[k].Sentence(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		text, err := JUnit(subjects, results)
		if err != nil || !strings.Contains(string(text), `<property name="verdict" value="`+string(c.verdict)+`"`) || !strings.Contains(string(text), "82 ms (60 to 82 ms)") {
			t.Errorf("%v\n%s", err, text)
		}
		if md := string(StepSummary(subjects, results)); !strings.Contains(md, "82 (60 to 82) |") || !strings.Contains(md, "| "+string(c.verdict)+" |") {
			t.Error(md)
		}
	}
}

// TestVerdictGate: valid runs and those that their server limits pass; a run without a verdict, or that was interrupted, is undecided.
func TestVerdictGate(t *testing.T) {
	subject := func(list ...metric.Verdict) (s Subject) {
		for _, v := range list {
			s.Runs = append(s.Runs, judgedRun(1, 1, 1, v))
		}
		return s
	}
	cut := subject("valid")
	cut.Interrupted = true
	for name, c := range map[string]struct {
		s        Subject
		want     Outcome
		sentence string
	}{
		"valid":          {subject("valid"), Passed, "passed: the verdict is valid or server limited"},
		"server limited": {subject("server limited", "valid"), Passed, ""},
		"uncertain":      {subject("valid", "uncertain"), Failed, "FAILED: the verdict is uncertain: why."},
		"client limited": {subject("client limited"), Failed, ""}, "rate not reached": {subject("rate not reached"), Failed, ""}, "no result": {subject("no result"), Failed, ""},
		"no verdict":  {Subject{Runs: []*metric.Run{run(1, 0)}}, Undecided, "undecided: a run has no verdict"},
		"interrupted": {cut, Undecided, ""}, "not run": {Subject{Fault: "not run", Interrupted: true}, Undecided, "undecided: not run"},
	} {
		results := Judge(nil, []Subject{c.s}, Options{Verdict: true})
		if len(results) != 1 || results[0].Outcome != c.want || c.sentence != "" && results[0].Sentence() != c.sentence {
			t.Errorf("%s: %+v %q", name, results, results[0].Sentence())
		}
	}
}

// TestDerivedRange: a metric that is another one less the network's round trip is as uncertain as that one.
func TestDerivedRange(t *testing.T) {
	values := func(v float64) (list [metric.Stats]float64) {
		for i := range list {
			list[i] = v
		}
		return list
	}
	r := &metric.Run{Profiling: metric.SummaryOf(map[string][metric.Stats]float64{"time_to_first_token": values(82), "network_adjusted_time_to_first_token": values(80)}, 98, 0)}
	r.Validity = &metric.Validity{Verdict: "uncertain", Bounds: metric.Bounds{"time_to_first_token": {metric.P99: {Low: 60, High: 83}}}}
	if got := rangeOf(r.Validity, r.Profiling, "network_adjusted_time_to_first_token", metric.P99, 80); got != (metric.Range{Low: 58, High: 81}) {
		t.Errorf("%+v", got)
	}
	if got := rangeOf(r.Validity, r.Profiling, "network_adjusted_time_to_first_token", metric.P50, 80); got != (metric.Range{Low: 80, High: 80}) {
		t.Errorf("the median is exact: %+v", got)
	}
}

// TestOddNames: names with markup, line ends and characters that XML has not stay one well-formed case and one cell.
func TestOddNames(t *testing.T) {
	gates, err := Parsed([]string{"request_latency:p99>1"})
	if err != nil {
		t.Fatal(err)
	}
	name := "a|b\r\n<x>&\"'\x01]]> ![i](http://h) *é`\\"
	subjects := []Subject{{Name: name, Runs: []*metric.Run{run(1, 0)}}}
	text, err := JUnit(subjects, Judge(gates, subjects, Options{}))
	var back suites
	if err != nil || xml.Unmarshal(text, &back) != nil || len(back.Suites) != 1 || len(back.Suites[0].Cases) != 2 {
		t.Fatalf("%v\n%s", err, text)
	}
	one := back.Suites[0]
	if want := strings.ReplaceAll(name, "\x01", "\uFFFD"); one.Name != want || one.Cases[1].Failure == nil || one.Cases[1].Failure.Type != "gate" || one.Time != "0.000" {
		t.Errorf("%q, want %q: %+v", one.Name, want, one)
	}
	row := ""
	for line := range strings.Lines(string(StepSummary(subjects, nil))) {
		if strings.HasPrefix(line, "| a") {
			row = line
		}
	}
	if strings.Count(row, "|")-strings.Count(row, `\|`) != 10 || strings.Contains(row, "<x>") || strings.Contains(row, "![i](") {
		t.Errorf("%q", row)
	}
}

// TestObjective: what must hold becomes the condition under which it does not.
func TestObjective(t *testing.T) {
	for text, want := range map[string]string{
		"ttft:p99<200ms": "time_to_first_token:p99>=200ms", "p95(e2e) <= 2s": "request_latency:p95>2000ms", "tps>100": "output_token_throughput<=100tokens/sec", "error_rate<1%": "error_rate>=1%",
		"request_count>1e7": "request_count<=1e+07requests",
	} {
		got, err := Objective(text)
		if _, bad := Parse(got); err != nil || bad != nil || got != want {
			t.Errorf("%s: %q %v %v, want %q", text, got, err, bad, want)
		}
	}
	for text, want := range map[string]string{"ttft:p99>200": "describes a bad run", "rps:p99>5": "one value of a run, without p99", "ttft": "is not a limit"} {
		if _, err := Objective(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestAtTheLimit: a condition with an equals sign holds at its limit, one without does not. A value of which an end is unknown is undecided.
func TestAtTheLimit(t *testing.T) {
	const limit = 200
	for op, want := range map[string][3]Outcome{
		">": {Passed, Passed, Failed}, ">=": {Passed, Failed, Failed}, "<": {Failed, Passed, Passed}, "<=": {Failed, Failed, Passed},
	} {
		g := Gate{Op: op, Limit: limit}
		for i, v := range []float64{math.Nextafter(limit, 0), limit, math.Nextafter(limit, 2*limit)} {
			if got := g.outcome(metric.Range{Low: v, High: v}); got != want[i] {
				t.Errorf("%g %s %d: %s, want %s", v, op, limit, got, want[i])
			}
		}
		for _, r := range []metric.Range{{Low: math.NaN(), High: math.NaN()}, {Low: 1, High: math.NaN()}, {Low: math.NaN(), High: 1e6}} {
			if got := g.outcome(r); got != Undecided && !(got == Failed && g.hit(r.Low) && g.hit(r.High)) {
				t.Errorf("%+v %s %d: %s", r, op, limit, got)
			}
		}
	}
	if got := (&Gate{Op: ">", Limit: limit}).outcome(metric.Range{Low: math.NaN(), High: math.NaN()}); got != Undecided {
		t.Errorf("nothing is known, and the gate says %s", got)
	}
}

// TestMeasured: a fault in a run without any success is not a doubt about its figures, because there are none.
func TestMeasured(t *testing.T) {
	dead := run(100, 2)
	dead.Profiling.Valid = 0
	for _, c := range []struct {
		run  *metric.Run
		want string
	}{{run(100, 2), "another run has no result: unreachable"}, {dead, ""}} {
		s := Subject{Runs: []*metric.Run{c.run}, Fault: "unreachable"}
		if got := s.Doubt(); got != c.want {
			t.Errorf("%d succeeded: %q, want %q", c.run.Profiling.Valid, got, c.want)
		}
	}
}

// TestVerdictOfSeveral: one run that is not valid fails the gate on the verdict, whatever the others lack.
func TestVerdictOfSeveral(t *testing.T) {
	limited, bare := judgedRun(1, 1, 1, "client limited"), run(1, 0)
	for _, runs := range [][]*metric.Run{{limited, bare}, {bare, limited}} {
		s := Subject{Runs: runs}
		if r := s.verdict(); r.Outcome != Failed || r.Doubt != "client limited: why." {
			t.Errorf("%s: %q", r.Outcome, r.Doubt)
		}
	}
}

// TestSecondsOfRuns: a run whose end is not known takes no time off the others.
func TestSecondsOfRuns(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	a, b := run(1, 0), run(1, 0)
	a.Start, a.End, b.Start = start, start.Add(3*time.Second), start
	if s := (Subject{Runs: []*metric.Run{a, b}}); s.seconds() != 3 {
		t.Errorf("%g s, want 3", s.seconds())
	}
}

// TestRangeOfOldRuns: an uncertain run of a version without bounds leaves everything open that is made of instants, and nothing else.
func TestRangeOfOldRuns(t *testing.T) {
	v := &metric.Validity{Verdict: metric.VerdictUncertain}
	for tag, open := range map[string]bool{
		"time_to_first_token": true, "request_latency": true, "output_token_throughput_per_user": true,
		"request_count": false, "output_sequence_length": false,
	} {
		want := metric.Range{Low: 7, High: 7}
		if open {
			want = metric.Range{Low: 0, High: math.Inf(1)}
		}
		if got := rangeOf(v, nil, tag, metric.Avg, 7); got != want {
			t.Errorf("%s: %+v, want %+v", tag, got, want)
		}
	}
}
