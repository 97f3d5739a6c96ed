package accuracy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/workload/accuracy/grade"
)

// prompts is a run of the Python tool 0.13 on the stand-in rows of testdata: what it was asked and which bodies it sent.
type prompts struct {
	Name, Benchmark string
	Args            []string
	Env             map[string]string
	Error           string
	Words           []string `json:"words_any"`
	Problems        []struct {
		Task string
		Gold string `json:"ground_truth"`
		Body body
		Ours *struct{ Body body }
	}
}

type body struct {
	Messages         []Message
	Prompt           string
	Tokens           int `json:"max_completion_tokens"`
	CompletionTokens int `json:"max_tokens"`
	Stop             any
}

// options are those of the recorded flags; left is what concerns the endpoint.
func (p prompts) options(t *testing.T) (o Options, left string) {
	o = Options{Benchmark: p.Benchmark, Dir: filepath.Join("testdata", "rows", p.Benchmark), Release: "v4_v5"}
	if tag := p.Env["AIPERF_ACCURACY_LCB_RELEASE_TAG"]; tag != "" {
		o.Release = tag
	}
	yes, no := true, false
	for i := 0; i < len(p.Args); i++ {
		value := ""
		if i+1 < len(p.Args) {
			value = p.Args[i+1]
		}
		switch p.Args[i] {
		case "--accuracy-enable-cot":
			o.CoT = &yes
			continue
		case "--accuracy-no-enable-cot":
			o.CoT = &no
			continue
		case "--streaming":
			continue
		case "--accuracy-n-shots":
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			o.Shots = &n
		case "--accuracy-tasks":
			o.Tasks = append(o.Tasks, strings.Split(value, ",")...)
		case "--accuracy-system-prompt":
			o.System = &value
		default:
			left += p.Args[i] + " " + value + " "
		}
		i++
	}
	return o, left
}

// TestRecordedPrompts builds the prompts that the Python tool sent, byte for byte.
func TestRecordedPrompts(t *testing.T) {
	for _, p := range testrecording.Lines[prompts](t, "testdata/prompts.jsonl.gz") {
		t.Run(p.Name, func(t *testing.T) {
			o, left := p.options(t)
			if o.Shots != nil && (*o.Shots < 0 || *o.Shots > MaxShots) {
				return // refused by the bounds of the flag
			}
			set, err := Load(t.Context(), o)
			if p.Error != "" {
				if err == nil || !slices.ContainsFunc(p.Words, func(w string) bool { return strings.Contains(strings.ToLower(err.Error()), strings.ToLower(w)) }) {
					t.Errorf("error %v, want one of %q", err, p.Words)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(set.Problems) != len(p.Problems) {
				t.Fatalf("%d problems, want %d", len(set.Problems), len(p.Problems))
			}
			for i, want := range p.Problems {
				if want.Ours != nil {
					want.Body = want.Ours.Body
				}
				got := set.Problems[i]
				if got.Task != want.Task || want.Ours == nil && got.Gold != want.Gold {
					t.Errorf("problem %d: task %q, gold %.60q, want %q, %.60q", i, got.Task, got.Gold, want.Task, want.Gold)
				}
				text := got.Text
				turns := got.Turns
				if set.System != "" {
					text, turns = set.System+"\n\n"+text, append([]Message{{"system", set.System}}, turns...)
				}
				if want.Body.Messages != nil && !reflect.DeepEqual(turns, want.Body.Messages) || want.Body.Messages == nil && text != want.Body.Prompt {
					t.Fatalf("problem %d: %+q\nwant %+q %q", i, turns, want.Body.Messages, want.Body.Prompt)
				}
				if tokens := max(want.Body.Tokens, want.Body.CompletionTokens); !strings.Contains(left, "max_tokens") && set.Limit != tokens {
					t.Errorf("limit %d, want %d", set.Limit, tokens)
				}
				if list, ok := want.Body.Stop.([]any); ok != (set.Stop != nil) || ok && list[0] != set.Stop[0] {
					t.Errorf("stop %q, want %v", set.Stop, want.Body.Stop)
				}
			}
		})
	}
}

// TestRows: every benchmark names a known grader, and names are unique.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range Benchmarks {
		if _, err := grade.Find(b.Grader); err != nil || seen[b.Name] || b.load == nil || b.Repo == "" || b.Shots > MaxShots {
			t.Errorf("%s: %v", b.Name, err)
		}
		seen[b.Name] = true
	}
	if len(activities.labels) != 192 || len(bbhTasks) != 27 || len(mmluSubjects) != 57 || len(mmluProCategories) != 14 {
		t.Errorf("%d labels, %d tasks, %d subjects, %d categories", len(activities.labels), len(bbhTasks), len(mmluSubjects), len(mmluProCategories))
	}
}

func TestReleases(t *testing.T) {
	for tag, want := range map[string]string{
		"v1": "test.jsonl", "v6": "test6.jsonl", "v4_v5": "test4.jsonl test5.jsonl", "release_v3": "test.jsonl test2.jsonl test3.jsonl",
		"v0": "", "v7": "", "v5_v4": "", "release_v1_v2": "", "": "", "latest": "", "v99999999999999999999": "",
	} {
		names, err := lcbFiles(tag, nil)
		if strings.Join(names, " ") != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v, want %q", tag, names, err, want)
		}
	}
}

// TestRefusals: problems that cannot be asked are refused with the name of the setting and the allowed values.
func TestRefusals(t *testing.T) {
	nine, one, yes := 9, 1, true
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Benchmark: "mlmu"}, "unknown benchmark; allowed are mmlu"},
		{Options{Benchmark: "mmlu", Tasks: []string{"Anatomy"}}, `unknown task "Anatomy"`},
		{Options{Benchmark: "aime", Shots: &nine}, "at most 8"},
		{Options{Benchmark: "lcb_codegeneration", CoT: &yes}, "enable_cot"},
		{Options{Benchmark: "lcb_codegeneration", Shots: &one}, "n_shots"},
		{Options{Benchmark: "hellaswag", Tasks: []string{"all", "Disc dog"}}, "cannot be combined"},
		{Options{Benchmark: "gsm8k", Dir: "testdata/none"}, "no file main/test-*.parquet"},
		{Options{Benchmark: "gpqa_diamond", Dir: "testdata/none"}, "gpqa_diamond.csv"},
	} {
		_, err := Load(t.Context(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.o.Benchmark, err, c.want)
		}
	}
}

// TestRowsAsJSONL: the rows of a set may be JSON Lines as well, a file alone or in shards.
func TestRowsAsJSONL(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("main/test-00001-of-00002.jsonl", `{"question":"b","answer":"#### 2"}`)
	write("main/test-00000-of-00002.jsonl", `{"question":"a","answer":"#### 1"}`)
	set, err := Load(t.Context(), Options{Benchmark: "gsm8k", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Problems) != 2 || set.Problems[0].Text != "Question: a\nAnswer:" || set.Problems[1].Gold != "#### 2" {
		t.Errorf("%+v", set.Problems)
	}
	write("main/test-00000-of-00002.jsonl", `{"question":"a"}`)
	if _, err := Load(t.Context(), Options{Benchmark: "gsm8k", Dir: dir}); err == nil || !strings.Contains(err.Error(), "row 0: column answer") {
		t.Error(err)
	}
}

// TestTestCases: the gold answer of a program holds its tests, which the grader reads.
func TestTestCases(t *testing.T) {
	set, err := Load(t.Context(), Options{Benchmark: "lcb_codegeneration", Dir: "testdata/rows/lcb_codegeneration", Release: "v4"})
	if err != nil {
		t.Fatal(err)
	}
	var gold map[string]string
	if err := json.Unmarshal([]byte(set.Problems[0].Gold), &gold); err != nil || gold["public_test_cases"] == "" {
		t.Errorf("%v: %v", gold, err)
	}
}
