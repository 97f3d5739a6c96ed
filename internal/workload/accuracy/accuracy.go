// Package accuracy makes prompts from the problems of benchmarks and collects the grades of the answers. Its subpackage grade judges answers.
package accuracy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/setting"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/workload/dataset/table"
)

// Problem is one question of a benchmark with its correct answer.
type Problem struct {
	Task string
	Gold string // in the format that the grader expects

	Metadata json.RawMessage // from a plug-in, for the grader; nil = none

	Text  string    // the prompt as one text
	Turns []Message // the same as chat messages
}

// Message is one message of a prompt.
type Message struct{ Role, Content string }

// plain returns a problem whose prompt is one message.
func plain(task, gold, prompt string) Problem {
	return Problem{Task: task, Gold: gold, Text: prompt, Turns: []Message{{"user", prompt}}}
}

// Benchmark is a set of problems with their source, prompt format and grader.
type Benchmark struct {
	Name     string
	Repo     string   // repository on the hub
	Grader   string   // default grader
	Shots    int      // default number of worked examples before a problem
	MaxShots int      // maximum number of them; 0 = the limit of the flag
	CoT      bool     // asks for reasoning by default
	Limit    int      // answer length in tokens; 0 = unsaidLimit
	Stop     []string // stop words
	System   string   // default system prompt
	Tasks    []string // tasks that can be selected; nil = none
	Gated    bool     // the licence terms of the data set must be accepted
	Own      bool     // its problems have their own system messages and accept no other
	Refuses  bool     // setting options for tasks, shots or reasoning is an error; false = they are ignored

	// chain replaces Limit when the model is asked to reason, and Stop is then empty; 0 = Limit and Stop stay.
	chain int
	// resolve converts the user's task names to tasks; nil = they are ignored.
	resolve func(names []string) ([]string, error)
	// load reads the problems.
	load func(s *source) ([]Problem, error)
}

// unsaidLimit is the answer limit, in tokens, of benchmarks that set none.
const unsaidLimit = 100

// MaxShots is the maximum number of worked examples.
const MaxShots = 32

// Options select the problems and set their prompt format.
type Options struct {
	Benchmark string
	Tasks     []string
	Shots     *int // nil = the benchmark's default
	CoT       *bool
	System    *string // nil = the benchmark's default; "" = none
	Dir       string  // local copy of the data set's repository; "" = download it
	Release   string  // release of LiveCodeBench
	Pin       string  // required release of bfcl-eval; AnyVersion = any
	Hub       hfhub.Config
	Spell     setting.Spell     // names of settings in errors
	Log       func(line string) // receives the standard error of the program of a plug-in; nil = it is dropped
}

// Set is a loaded set of problems.
type Set struct {
	*Benchmark
	Problems []Problem
	System   string
	Limit    int
	Stop     []string
}

// Names returns the names of the benchmarks.
func Names() []string {
	names := make([]string, len(Benchmarks))
	for i, b := range Benchmarks {
		names[i] = b.Name
	}
	return names
}

// Find returns a benchmark by name; nil = unknown.
func Find(name string) *Benchmark {
	b, _ := find(name) // Check has the error
	return b
}

// find returns a built-in benchmark or that of a plug-in; nil = unknown.
func find(name string) (*Benchmark, error) {
	i := slices.IndexFunc(Benchmarks, func(b Benchmark) bool { return b.Name == name })
	switch e, ok, err := plugin.Installed().Choose(Category, name, i >= 0); {
	case err != nil:
		return nil, err
	case ok:
		return external(e)
	case i < 0:
		return nil, nil
	}
	return &Benchmarks[i], nil
}

// Check returns what is wrong with the options, as far as this shows without the data set; nil = nothing.
func Check(o Options) error {
	b, err := find(o.Benchmark)
	if b == nil {
		return unknown(o, err)
	}
	s := &source{Options: o, bench: b, shots: b.Shots, cot: b.CoT}
	return s.complete()
}

// unknown returns the error for a name without a benchmark. why is the reason; nil = nothing has the name.
func unknown(o Options, why error) error {
	if why != nil {
		return fmt.Errorf("%s %q: %w", o.Spell.As("accuracy.benchmark"), o.Benchmark, why)
	}
	names := append(Names(), plugin.Installed().Names(Category, Names())...)
	return fmt.Errorf("%s %q: unknown benchmark; allowed are %s", o.Spell.As("accuracy.benchmark"), o.Benchmark, strings.Join(names, ", "))
}

// Load loads the problems of a benchmark.
func Load(ctx context.Context, o Options) (*Set, error) {
	b, err := find(o.Benchmark)
	if b == nil {
		return nil, unknown(o, err)
	}
	s := &source{Options: o, bench: b, ctx: ctx, shots: b.Shots, cot: b.CoT}
	if err := s.complete(); err != nil {
		return nil, err
	}
	problems, err := b.load(s)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", o.Spell.As("accuracy.benchmark"), b.Name, err)
	}
	if len(problems) == 0 {
		return nil, fmt.Errorf("%s %s: no problems left in data set %s; check that it has the tasks of %s", o.Spell.As("accuracy.benchmark"), b.Name, b.Repo, o.Spell.As("accuracy.tasks"))
	}
	set := &Set{Benchmark: b, Problems: problems, System: b.System, Limit: b.Limit, Stop: b.Stop}
	if o.System != nil {
		set.System = *o.System
	}
	if s.cot && b.chain > 0 {
		set.Limit, set.Stop = b.chain, nil
	}
	if set.Limit == 0 {
		set.Limit = unsaidLimit
	}
	return set, nil
}

// complete combines the user's options with the benchmark's defaults.
func (s *source) complete() error {
	b, as := s.bench, s.Spell.As
	if b.Refuses {
		switch {
		case len(s.Tasks) > 0:
			return fmt.Errorf("%s: %s has no tasks to choose from; leave this setting out", as("accuracy.tasks"), b.Name)
		case s.Shots != nil && *s.Shots != 0:
			return fmt.Errorf("%s %d: %s has no worked examples (shots); only 0 is allowed", as("accuracy.n_shots"), *s.Shots, b.Name)
		case s.CoT != nil && *s.CoT:
			return fmt.Errorf("%s: the prompts of %s do not ask for reasoning", as("accuracy.enable_cot"), b.Name)
		}
	}
	if b.Own && s.System != nil {
		return fmt.Errorf("%s: the system messages of %s describe its functions and cannot be replaced", as("accuracy.system_prompt"), b.Name)
	}
	if s.Shots != nil {
		s.shots = *s.Shots
	}
	if b.MaxShots > 0 && s.shots > b.MaxShots {
		return fmt.Errorf("%s %d: %s has at most %d worked examples", as("accuracy.n_shots"), s.shots, b.Name, b.MaxShots)
	}
	if s.CoT != nil {
		s.cot = *s.CoT
	}
	if b.resolve == nil {
		return nil
	}
	var err error
	if s.tasks, err = b.resolve(s.Tasks); err != nil {
		return fmt.Errorf("%s: %w", as("accuracy.tasks"), err)
	}
	return nil
}

// source is a benchmark whose problems are being loaded.
type source struct {
	Options
	ctx   context.Context //nolint:containedctx // one load, which ends with it
	bench *Benchmark
	tasks []string
	shots int
	cot   bool
	snap  *hfhub.Snapshot
}

// choose returns a function that resolves task names, which must match exactly. No name, or "all" among the names, selects all.
func choose(known []string) func([]string) ([]string, error) {
	return func(names []string) ([]string, error) {
		if len(names) == 0 || slices.Contains(names, "all") {
			return known, nil
		}
		for _, n := range names {
			if !slices.Contains(known, n) {
				return nil, unknownTask(n, known)
			}
		}
		return names, nil
	}
}

// chooseAny returns a function that resolves task names, which may be in upper case. find looks a name up. "all" must be the only name.
func chooseAny(known []string, find func(name string) string) func([]string) ([]string, error) {
	return func(names []string) ([]string, error) {
		if len(names) == 0 || len(names) == 1 && strings.EqualFold(names[0], "all") {
			return known, nil
		}
		var tasks []string
		for _, n := range names {
			task := find(n)
			switch {
			case strings.EqualFold(n, "all"):
				return nil, fmt.Errorf("\"all\" cannot be combined with task names; found %q", names)
			case task == "":
				return nil, unknownTask(n, known)
			}
			tasks = append(tasks, task)
		}
		return tasks, nil
	}
}

func unknownTask(name string, known []string) error {
	return fmt.Errorf("unknown task %q; allowed are %s", name, strings.Join(known, ", "))
}

// row is one row of a data set.
type row struct {
	table.Row
	where string
}

// text returns a column that must be text; a number is converted.
func (r row) text(column string) (string, error) {
	switch v := r.Row[column].(type) {
	case string:
		return v, nil
	case int64:
		return fmt.Sprint(v), nil
	case float64:
		return fmt.Sprint(v), nil
	default:
		return "", fmt.Errorf("%s: column %s: must be text, got %.40q", r.where, column, fmt.Sprint(v))
	}
}

// texts returns columns that must be text.
func (r row) texts(columns ...string) ([]string, error) {
	list := make([]string, len(columns))
	for i, c := range columns {
		v, err := r.text(c)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

// list returns a column that must be a list of texts.
func (r row) list(column string) ([]string, error) {
	items, ok := r.Row[column].([]any)
	if !ok {
		return nil, fmt.Errorf("%s: column %s: must be a list of texts, got %.40q", r.where, column, fmt.Sprint(r.Row[column]))
	}
	list := make([]string, len(items))
	for i, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%s: column %s[%d]: must be text, got %.40q", r.where, column, i, fmt.Sprint(item))
		}
		list[i] = text
	}
	return list, nil
}
