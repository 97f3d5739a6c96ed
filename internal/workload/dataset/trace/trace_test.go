package trace

import (
	"slices"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/dataset"
)

type prompt struct {
	length int
	ids    []int64
	output int
}

// one builds a session from the rows.
func one(rows []prompt) []Session {
	s := Session{ID: "s"}
	for _, r := range rows {
		output := r.output
		at := 999.9
		s.Records = append(s.Records, Record{InputLength: r.length, HashIDs: slices.Clone(r.ids), OutputLength: &output, Timestamp: &at})
	}
	return []Session{s}
}

func neutral() Synthesis {
	return Synthesis{Speedup: 1, PrefixLen: 1, PrefixRoot: 1, PromptLen: 1, OutputLen: 1}
}

// Rows and results of the example in the contract and of runs of the Python tool (blocks of 512).
func TestSynthesis(t *testing.T) {
	rows := []prompt{{1500, []int64{1, 2, 3}, 100}, {1400, []int64{1, 2, 4}, 50}, {300, []int64{5}, 20}}
	tests := []struct {
		name   string
		change func(*Synthesis)
		want   []prompt
	}{
		{"nothing", func(*Synthesis) {}, rows},
		{"prefix 2, prompt 0.5", func(s *Synthesis) { s.PrefixLen, s.PromptLen = 2, 0.5 },
			[]prompt{{2286, []int64{2, 3, 4, 5, 7}, 100}, {2236, []int64{2, 3, 4, 5, 8}, 50}, {150, []int64{9}, 20}}},
		{"prefix 1.5", func(s *Synthesis) { s.PrefixLen = 1.5 },
			[]prompt{{2012, []int64{1, 2, 4, 5}, 100}, {1912, []int64{1, 2, 6, 7}, 50}, {300, []int64{8}, 20}}},
		{"prefix 0.5", func(s *Synthesis) { s.PrefixLen = 0.5 },
			[]prompt{{988, []int64{1, 4}, 100}, {888, []int64{1, 5}, 50}, {300, []int64{6}, 20}}},
		{"output 0.25", func(s *Synthesis) { s.OutputLen = 0.25 },
			[]prompt{{1500, []int64{1, 2, 4}, 25}, {1400, []int64{1, 2, 5}, 12}, {300, []int64{6}, 5}}},
		{"longest output", func(s *Synthesis) { s.OutputLen, s.MaxOSL = 2, 90 },
			[]prompt{{1500, []int64{1, 2, 4}, 90}, {1400, []int64{1, 2, 5}, 90}, {300, []int64{6}, 40}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := neutral()
			test.change(&s)
			sessions := one(rows)
			seed := uint64(1)
			if err := s.Apply(sessions, 512, rng.New(&seed)); err != nil {
				t.Fatal(err)
			}
			for i, want := range test.want {
				rec := sessions[0].Records[i]
				if rec.InputLength != want.length || !slices.Equal(rec.HashIDs, want.ids) || *rec.OutputLength != want.output {
					t.Errorf("row %d: %d %v %d, want %+v", i, rec.InputLength, rec.HashIDs, *rec.OutputLength, want)
				}
			}
		})
	}
}

// TestLongestInput checks that a prompt that became too long is truncated with its ids, so that it can be generated.
func TestLongestInput(t *testing.T) {
	s := neutral()
	s.PromptLen, s.MaxISL = 3, 1100
	sessions := one([]prompt{{700, []int64{1, 2}, 1}, {600, []int64{1, 3}, 1}})
	seed := uint64(1)
	if err := s.Apply(sessions, 512, rng.New(&seed)); err != nil {
		t.Fatal(err)
	}
	var faults dataset.Faults
	for i, want := range []struct{ length, ids int }{{1076, 3}, {776, 2}} {
		rec := &sessions[0].Records[i]
		CheckBlocks(rec, 512, "--block-size", &faults)
		if rec.InputLength != want.length || len(rec.HashIDs) != want.ids {
			t.Errorf("row %d: %d tokens, ids %v, want %+v", i, rec.InputLength, rec.HashIDs, want)
		}
	}
	s.MaxISL = 700
	if err := s.Apply(sessions, 512, rng.New(&seed)); err != nil {
		t.Fatal(err)
	}
	rec := &sessions[0].Records[0]
	CheckBlocks(rec, 512, "--block-size", &faults)
	if rec.InputLength != 700 || len(rec.HashIDs) != 2 || faults.Err() != nil {
		t.Errorf("%d tokens, ids %v, %v", rec.InputLength, rec.HashIDs, faults.Err())
	}
}

func TestSpeedup(t *testing.T) {
	s := neutral()
	s.Speedup = 3
	sessions := one([]prompt{{10, nil, 1}})
	seed := uint64(1)
	if err := s.Apply(sessions, 512, rng.New(&seed)); err != nil {
		t.Fatal(err)
	}
	if got := *sessions[0].Records[0].Timestamp; got != 333 {
		t.Errorf("timestamp %g, want 333", got)
	}
}

// TestRoots checks that equal rows stay equal within a copy, and that copies share nothing.
func TestRoots(t *testing.T) {
	s := neutral()
	s.PrefixRoot = 3
	var rows []prompt
	for range 60 {
		rows = append(rows, prompt{1100, []int64{1, 2, 3}, 1}, prompt{1100, []int64{1, 2, 4}, 1})
	}
	sessions := one(rows)
	seed := uint64(5)
	root := rng.New(&seed)
	if err := s.Apply(sessions, 512, root); err != nil {
		t.Fatal(err)
	}
	starts := map[int64]bool{}
	draws := root.Stream("dataset.synthesis.synthesizer")
	step := sessions[0].Records[0].HashIDs[0]
	for i, rec := range sessions[0].Records {
		starts[rec.HashIDs[0]] = true
		k := int64(draws.Below(3))
		if i == 0 && k > 0 {
			step = (rec.HashIDs[0] - 1) / k
		}
		if k == 0 && rec.HashIDs[0] != 1 || rec.HashIDs[1] != rec.HashIDs[0]+1 {
			t.Fatalf("row %d: %v in copy %d", i, rec.HashIDs, k)
		}
	}
	if len(starts) != 3 || step < 5 {
		t.Errorf("first ids %v", starts)
	}
}

// TestSharedPartialBlock checks that rows that are completely equal share a partial last block. The published traces have such rows.
func TestSharedPartialBlock(t *testing.T) {
	s := neutral()
	s.Speedup = 2
	sessions := one([]prompt{{600, []int64{1, 2}, 1}, {600, []int64{1, 2}, 1}})
	seed := uint64(1)
	if err := s.Apply(sessions, 512, rng.New(&seed)); err != nil {
		t.Fatal(err)
	}
	a, b := sessions[0].Records[0], sessions[0].Records[1]
	if a.InputLength != 600 || b.InputLength != 600 || len(a.HashIDs) != 2 || a.HashIDs[0] != b.HashIDs[0] {
		t.Errorf("got %d %v, %d %v", a.InputLength, a.HashIDs, b.InputLength, b.HashIDs)
	}
}

func TestBadRatios(t *testing.T) {
	for _, s := range []Synthesis{{}, {Speedup: -1, PrefixLen: 1, PrefixRoot: 1, PromptLen: 1, OutputLen: 1}} {
		if s.Apply(nil, 512, rng.New(nil)) == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}

func TestGroup(t *testing.T) {
	n := 0
	sessions := Group([]Record{{Session: "b"}, {}, {Session: "a"}, {Session: "b"}}, func() string { n++; return "new" })
	var got []string
	for _, s := range sessions {
		got = append(got, s.ID)
	}
	if !slices.Equal(got, []string{"b", "new", "a"}) || len(sessions[0].Records) != 2 || n != 1 {
		t.Errorf("got %v", got)
	}
}

func TestCheckBlocks(t *testing.T) {
	tests := []struct{ length, ids, faults int }{{512, 1, 0}, {513, 1, 0}, {512, 2, 1}, {513, 2, 0}, {1, 3, 1}, {5, 0, 0}}
	for _, test := range tests {
		var f dataset.Faults
		CheckBlocks(&Record{InputLength: test.length, HashIDs: make([]int64, test.ids)}, 512, "--block-size", &f)
		if f.Count() != test.faults {
			t.Errorf("%d tokens, %d ids: %v", test.length, test.ids, f.Err())
		}
	}
}
