package accuracy

import (
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/base/testrecording"
)

// quiz asks the bare question.
func quiz(s *source) (problems []Problem, err error) {
	err = s.split("data/test", func(r row) error {
		v, err := r.texts("question", "answer")
		if err == nil {
			problems = append(problems, plain("quiz", v[1], v[0]))
		}
		return err
	})
	return problems, err
}

// TestHowToAddABenchmark follows docs/howto/benchmark.md: this test has what the page asks for, and its row verbatim.
func TestHowToAddABenchmark(t *testing.T) {
	before := Benchmarks
	t.Cleanup(func() { Benchmarks = before })
	Benchmarks = append(Benchmarks[:len(Benchmarks):len(Benchmarks)], []Benchmark{
		{Name: "quiz", Repo: "owner/quiz", Grader: "exact_match", Limit: 16, load: quiz},
	}...)
	testrecording.CheckPageRows(t, "../../../docs/howto/benchmark.md", "howto_test.go", 1)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "test.jsonl"), []byte(`{"question":"Why?","answer":"So."}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := Load(t.Context(), Options{Benchmark: "quiz", Dir: dir})
	if err != nil || len(set.Problems) != 1 || set.Problems[0].Text != "Why?" || set.Problems[0].Gold != "So." {
		t.Fatalf("%+v %v", set, err)
	}
}
