package setting

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func sample() *Table {
	return NewTable([]Row{
		{Flags: []string{"--concurrency", "-c"}, Kind: Int, Bounds: ">= 1", Sweep: true},
		{Flags: []string{"--rate"}, Kind: Float, Bounds: "> 0", Inf: true},
		{Flags: []string{"--offset"}, Kind: Int},
		{Flags: []string{"--count"}, Kind: Int, Bounds: ">= 1", Zero: true},
		{Flags: []string{"--streaming"}, FalseNames: []string{"--no-streaming"}, Kind: Bool},
		{Flags: []string{"--plain"}, Kind: Bool},
		{Flags: []string{"--schedule"}, Kind: Bool, Words: true},
		{Flags: []string{"--verbose", "-v"}, Kind: Bool, Repeatable: true},
		{Flags: []string{"--model", "-m"}, Kind: Text, List: true},
		{Flags: []string{"--header"}, Kind: Text, List: true, Whole: true},
		{Flags: []string{"--page"}, Kind: Text, Alone: "auto"},
		{Flags: []string{"--gpu"}, Kind: Text, List: true, Optional: true},
		{Flags: []string{"--kind"}, Kind: Enum, Choices: []string{"round_robin", "sticky-user"}},
		{Flags: []string{"--goodput"}, Kind: Text, Tokens: true},
		{Flags: []string{"--path"}, Kind: Path, Absent: true},
		{Flags: []string{"--endpoint"}, Kind: Text, Empty: true},
	})
}

func TestScan(t *testing.T) {
	type want struct {
		ints   []int64
		floats []float64
		texts  []string
	}
	for _, c := range []struct {
		line string // tokens separated by blanks; "␠" is a blank inside a token, "∅" the empty token
		flag string
		want want
	}{
		{"--concurrency 4", "--concurrency", want{ints: []int64{4}}},
		{"--concurrency=4", "--concurrency", want{ints: []int64{4}}},
		{"--concurrency= 4", "--concurrency", want{ints: []int64{4}}},
		{"-c +4", "--concurrency", want{ints: []int64{4}}},
		{"--concurrency 1_0", "--concurrency", want{ints: []int64{10}}},
		{"--concurrency 1,2,,4,", "--concurrency", want{ints: []int64{1, 2, 4}}},
		{"--concurrency ␠1␠,␠2␠", "--concurrency", want{ints: []int64{1, 2}}},
		{"--concurrency 2,2", "--concurrency", want{ints: []int64{2}}},
		{"--offset -5", "--offset", want{ints: []int64{-5}}},
		{"--rate 1e3", "--rate", want{floats: []float64{1000}}},
		{"--rate .5", "--rate", want{floats: []float64{.5}}},
		{"--model a b --plain", "--model", want{texts: []string{"a", "b"}}},
		{"--model a,,b, -m c", "--model", want{texts: []string{"a", "b", "c"}}},
		{"--header A:␠1,␠2 B:3", "--header", want{texts: []string{"A: 1, 2", "B:3"}}},
		{"--gpu --plain", "--gpu", want{}},
		{"--kind STICKY_USER", "--kind", want{texts: []string{"sticky-user"}}},
		{"--kind roundRobin", "--kind", want{texts: []string{"round_robin"}}},
		{"--goodput a:1 b:2", "--goodput", want{texts: []string{"a:1 b:2"}}},
		{"--endpoint ∅", "--endpoint", want{texts: []string{""}}},
		{"--endpoint=", "--endpoint", want{texts: []string{""}}},
	} {
		set, problems := Scan(sample(), tokens(c.line))
		if len(problems) > 0 {
			t.Errorf("%s: %v", c.line, problems)
			continue
		}
		g := set.Get(c.flag)
		if g == nil {
			t.Errorf("%s: %s is not given", c.line, c.flag)
			continue
		}
		if got := (want{g.ints, g.floats, g.texts}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.line, got, c.want)
		}
	}
}

func tokens(line string) []string {
	var list []string
	for _, token := range strings.Fields(line) {
		list = append(list, strings.NewReplacer("␠", " ", "∅", "").Replace(token))
	}
	return list
}

func TestScanBooleans(t *testing.T) {
	for line, want := range map[string]bool{
		"--streaming": true, "--streaming=true": true, "--streaming=YES": true, "--streaming=0": false, "--no-streaming": false,
		"--no-streaming=false": true, "--no_streaming": false,
	} {
		set, problems := Scan(sample(), tokens(line))
		if got := set.True("--streaming", !want); len(problems) > 0 || got != want {
			t.Errorf("%s: %v %v, want %v", line, got, problems, want)
		}
	}
	set, problems := Scan(sample(), tokens("--schedule False --plain true"))
	if len(problems) > 0 || set.True("--schedule", true) || !set.True("--plain", false) || !reflect.DeepEqual(set.Words, []string{"true"}) {
		t.Errorf("a word after a boolean: %v %v", set.Words, problems)
	}
	if set, problems = Scan(sample(), tokens("-v -v")); len(problems) > 0 || len(set.Get("--verbose").Spelled) != 2 {
		t.Errorf("-v -v: %v", problems)
	}
}

func TestScanRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"--concurrency":                 "--concurrency needs a value: an integer >= 1",
		"--concurrency 0":               `"0" must be >= 1`,
		"--concurrency -1":              `"-1" must be >= 1`,
		"--concurrency 1.5":             "is not an integer",
		"--concurrency 1e3":             "is not an integer",
		"--concurrency ,":               "holds no value",
		"--concurrency 1,abc":           `"abc" is not an integer`,
		"--concurrency 4 8":             "--concurrency 4,8",
		"--concurrency=4 -c 5":          "is given twice (--concurrency and -c)",
		"-c 4 -c 5":                     "--concurrency is given twice; give it once",
		"--concurrency 1__0":            "is not a number",
		"--offset 99999999999999999999": "does not fit",
		"--rate nan":                    "is not a number",
		"--rate 0x10":                   "is not a number",
		"--rate --plain":                "--rate needs a value",
		"--concurency 4":                "did you mean --concurrency?",
		"--foo 1":                       "unknown flag --foo",
		"--no-plain":                    "did you mean --plain?",
		"--plain=maybe":                 "neither true nor false",
		"--kind round":                  "is not one of round_robin, sticky-user",
		"--kind sticky-usr":             "did you mean sticky-user?",
		"--model ∅":                     "holds no value",
		"--model":                       "--model needs a value",
		"-- --foo":                      "not passed on",
		"-5":                            "unknown flag -5",
	} {
		_, problems := Scan(sample(), tokens(line))
		if !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%s: %q does not say %q", line, strings.Join(problems, "\n"), want)
		}
	}
}

func TestScanReportsAll(t *testing.T) {
	_, problems := Scan(sample(), tokens("--concurrency 0 --rate nan --foo"))
	if len(problems) != 3 {
		t.Errorf("%d problems, want 3: %v", len(problems), problems)
	}
}

func TestGivenIsNotEffective(t *testing.T) {
	set, problems := Scan(sample(), tokens("--count 0 --path ∅"))
	if len(problems) > 0 || set.Has("--count") || set.Get("--count") == nil || set.Get("--path") != nil || set.Ints("--count") != nil {
		t.Errorf("0 that means off, empty path: %v", problems)
	}
	if got := set.Spelled("--rate"); got != "--rate" {
		t.Errorf("spelling of an absent flag: %s", got)
	}
}

func TestCheckBounds(t *testing.T) {
	for _, c := range []struct {
		v      float64
		bounds string
		ok     bool
	}{{1, ">= 1", true}, {0.99, ">= 1", false}, {0, "> 0, <= 100", false}, {100, "> 0, <= 100", true}, {101, "> 0, <= 100", false}, {1, "> 0, < 1", false}, {7, "", true}} {
		if err := CheckBounds(c.v, c.bounds); (err == nil) != c.ok {
			t.Errorf("%g in %q: %v", c.v, c.bounds, err)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{"--concurrency 1,2", "--model a b", "-- x", "--kind=ROUND-ROBIN", "--rate inf --no-streaming=1", "-m ,", "--offset -5", "90s 1m30s 500ms inf 1e3 -1s µs 9.9.s"} {
		f.Add(s)
	}
	table := sample()
	f.Fuzz(func(t *testing.T, line string) {
		for word := range strings.SplitSeq(line, " ") {
			if v, err := ParseTime(word, "s", false); err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
				t.Fatalf("%q: %v", word, v)
			}
		}
		set, problems := Scan(table, strings.Split(line, " "))
		for _, g := range set.All() {
			if len(g.Spelled) == 0 {
				t.Fatalf("%q: %s is given without a spelling", line, g.Row.Name())
			}
			for _, n := range g.ints {
				if g.Row.bounds(float64(n)) != nil && len(problems) == 0 {
					t.Fatalf("%q: %d is out of bounds and nobody says so", line, n)
				}
			}
		}
	})
}

// TestBigInteger: an integer of any size keeps its digits, and no others.
func TestBigInteger(t *testing.T) {
	table := NewTable([]Row{{Flags: []string{"--seed"}, Kind: Int, Bounds: ">= 0", Big: true}})
	for text, want := range map[string]string{"99999999999999999999": "99999999999999999999", "007": "7", "+7": "7", "1_0": "10"} {
		set, problems := Scan(table, []string{"--seed", text})
		if got := set.Text("--seed", ""); len(problems) > 0 || got != want {
			t.Errorf("%s: %q %v", text, got, problems)
		}
	}
	for text, want := range map[string]string{
		"-1": "must be >= 0", "1e3": "not an integer", "1.5": "not an integer", strings.Repeat("9", 4301): "more than 4300 digits",
	} {
		if _, problems := Scan(table, []string{"--seed", text}); !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%.20s: %v, want %q", text, problems, want)
		}
	}
}

// TestTimes: a length of time is a number of the row's unit, or says its unit itself.
func TestTimes(t *testing.T) {
	seconds, ms := &Row{Kind: Float, Unit: "s", Inf: true}, &Row{Kind: Float, Unit: "ms"}
	for _, c := range []struct {
		row  *Row
		text string
		want float64
	}{
		{seconds, "90", 90}, {seconds, "90s", 90}, {seconds, "2m", 120}, {seconds, "1h", 3600}, {seconds, "500ms", 0.5}, {seconds, "1m30s", 90}, {seconds, "5 min", 300},
		{seconds, "1.5H", 5400}, {seconds, "250us", 0.00025}, {seconds, "1e3", 1000}, {ms, "250", 250}, {ms, "250ms", 250}, {ms, "2s", 2000}, {ms, "0.5s", 500},
	} {
		if got, err := c.row.parseFloat(c.text); err != nil || got != c.want {
			t.Errorf("%s of %s: %v, %v; want %v", c.text, c.row.Unit, got, err, c.want)
		}
	}
	for _, text := range []string{"5x", "5d", "s", "-5s", "5s5", "1..2s", "nan", "", "s5", "infs", "5 s x"} {
		if got, err := seconds.parseFloat(text + " "); err == nil {
			t.Errorf("%q: accepted as %v", text, got)
		}
	}
	whole := &Row{Kind: Int, Unit: "ms"}
	if n, err := whole.parseInt("1.5s"); err != nil || n != 1500 {
		t.Errorf("1.5s: %d ms, %v", n, err)
	}
	if n, err := whole.parseInt("1us"); err == nil {
		t.Errorf("1us: accepted as %d ms", n)
	}
	if _, err := (&Row{Kind: Float}).parseFloat("5s"); err == nil {
		t.Error("a unit is accepted where no length of time is")
	}
}
