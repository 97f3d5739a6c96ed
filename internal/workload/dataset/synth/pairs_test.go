package synth

import (
	"math"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
)

func TestParsePairs(t *testing.T) {
	want := []Pair{{256, 128, 10, 5, 40}, {512, 256, 0, 0.5, 60}}
	for _, text := range []string{
		"256|10,128|5:40;512,256|.5:60",
		" 256|10 , 128|5 : 40 ;; 512|0 , 256|0.5 : 60.0 ; ",
		"[(256|10,128|5):40,(512,256|.5):60]",
		"[ ( 256|10 , 128|5 ) : 40 ; (512,256|0.5):60 ]",
		`{"pairs":[{"isl":256,"osl":128,"prob":40,"isl_stddev":10,"osl_stddev":5},{"isl":512,"osl":256,"prob":60,"osl_stddev":0.5}]}`,
	} {
		got, err := ParsePairs(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if _, err := ParsePairs("1,1:33.3333;1,1:33.3333;1,1:33.3333"); err != nil {
		t.Error(err)
	}
}

func TestBadPairs(t *testing.T) {
	tests := []struct{ text, want string }{
		{"  ", "Distribution string cannot be empty"},
		{"64,32:40;128,64:50", "Probabilities must sum to 100.0, got 90.000000. Pairs: [(64,32):40% (128,64):50%]"},
		{"1,1:33.33;1,1:33.33;1,1:33.33", "must sum to 100.0, got 99.990000"},
		{"0,32:100", "Input sequence length must be positive, got 0"},
		{"1,0:100", "Output sequence length must be positive, got 0"},
		{"1,1:101", "Probability must be in [0,100], got 101"},
		{"256.5,128:100", "Invalid pair format: '256.5,128:100'"},
		{"256,128:0.4;512,256:0.6", "got 1.000000; they are percentages, not fractions"},
		{"256,128:40,512,256:60", "Invalid pair format"},
		{"-1,1:100", "Invalid pair format"},
		{"1 |2,1:100", "Invalid pair format"},
		{"1,1:1e2", "Invalid pair format"},
		{"256,128", "Invalid pair format: '256,128'. Expected 'ISL[|ISL_STDDEV],OSL[|OSL_STDDEV]:PROB'"},
		{"[(1,2):40 junk (3,4):60]", "Invalid pair format: 'junk (3,4):60'"},
		{"[]", "must contain at least one"},
		{";", "must contain at least one"},
		{"99999999999999999999,1:100", "Invalid pair format"},
		{"{", "Invalid JSON format"},
		{`{"a":1}`, "must contain 'pairs' key"},
		{`{"pairs":[]}`, "must contain at least one"},
		{`{"pairs":[{"isl":1,"osl":1}]}`, "Pair 0 missing required keys: {'prob'}"},
		{`{"pairs":[{"isl":1,"osl":1,"prob":100,"isl_stddev":-1}]}`, "stddev must be non-negative, got -1"},
		{`{"pairs":[{"isl":1.5,"osl":1,"prob":100}]}`, "isl: must be a number"},
		{`{"pairs":[{"isl":1,"osl":1,"prob":100,"x":1}]}`, "unknown key"},
	}
	for _, test := range tests {
		_, err := ParsePairs(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.text, err, test.want)
		}
		if err != nil && strings.TrimSpace(test.text) != "" && !strings.Contains(err.Error(), "'"+test.text+"'") {
			t.Errorf("the error does not name the text: %v", err)
		}
	}
}

// Compares with draws of the Python tool's class with root seed 42.
func TestPairDraws(t *testing.T) {
	pairs, err := ParsePairs("256|10,128|5:40;512|20,256|10:60")
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(42)
	lengths := newPairLengths(pairs, rng.New(&seed))
	want := [][2]int{{574, 272}, {520, 263}, {503, 272}, {264, 127}, {264, 135}, {241, 122}}
	for i, w := range want {
		if isl, osl := lengths.draw(); isl != w[0] || osl != w[1] {
			t.Errorf("draw %d: %d/%d, want %d/%d", i, isl, osl, w[0], w[1])
		}
	}
}

// TestPairWithoutChance checks that a pair with probability 0 is never drawn.
func TestPairWithoutChance(t *testing.T) {
	seed := uint64(1)
	lengths := newPairLengths([]Pair{{ISL: 1, OSL: 1}, {ISL: 2, OSL: 2, Percent: 100}, {ISL: 3, OSL: 3}}, rng.New(&seed))
	for range 2000 {
		if isl, _ := lengths.draw(); isl != 2 {
			t.Fatalf("drew %d", isl)
		}
	}
}

// FuzzParsePairs parses any distribution. This must give an error, or pairs to draw from.
func FuzzParsePairs(f *testing.F) {
	for _, s := range []string{"1,2:100", "256|10,128|5:40;512,256:60", "[(1,2):100]", `{"pairs":[{"isl":1,"osl":2,"prob":100}]}`, "[", "1,2:.5", "{}", "[(1,1):1e2]", "[(1|2,3|4):100]", "1|1,1:50;2,2:50"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pairs, err := ParsePairs(s)
		if (err == nil) != (len(pairs) > 0) {
			t.Fatalf("%v, %v", pairs, err)
		}
		if err != nil {
			return
		}
		sum := 0.0
		for _, p := range pairs {
			sum += p.Percent
			if p.ISL < 1 || p.OSL < 1 || p.ISLDev < 0 || p.OSLDev < 0 {
				t.Fatalf("%q: pair %v", s, p)
			}
		}
		if math.Abs(sum-100) > 1.1e-4 {
			t.Fatalf("%q: shares sum to %g", s, sum)
		}
	})
}
