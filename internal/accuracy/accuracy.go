// Package accuracy makes prompts of the problems of benchmarks and keeps the grades of the answers. Its room grade judges answers.
package accuracy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/dataset/table"
	"aiperf/internal/hub"
	"aiperf/internal/setting"
)

// Problem is one question of a benchmark with its right answer.
type Problem struct {
	Task string
	Gold string // as the grader wants it

	Text  string    // the prompt in one piece
	Turns []Message // the same as messages of a chat
}

// Message is one message of a prompt.
type Message struct{ Role, Content string }

// plain is a problem whose prompt is one message.
func plain(task, gold, prompt string) Problem {
	return Problem{Task: task, Gold: gold, Text: prompt, Turns: []Message{{"user", prompt}}}
}

// Benchmark is one set of problems: where they come from and how they are asked and graded.
type Benchmark struct {
	Name    string
	Repo    string   // of the hub
	Grader  string   // the default one
	Shots   int      // worked examples before a problem, unless asked otherwise
	Most    int      // the most of them; 0 = as many as the flag takes
	CoT     bool     // reasoning is asked for, unless asked otherwise
	Limit   int      // tokens of an answer; 0 = unsaidLimit
	Stop    []string // what ends an answer
	System  string   // system prompt, unless another is given
	Tasks   []string // that can be chosen; nil = none can
	Gated   bool     // the terms of the data set must be accepted
	Own     bool     // problems have system messages of their own, and take no other
	Refuses bool     // tasks, shots and reasoning are refused, not left aside

	// chain is what changes with reasoning: the limit and the stop words; 0 = nothing does.
	chain int
	// resolve makes the names of tasks of what the user wrote; nil = they are left aside.
	resolve func(names []string) ([]string, error)
	// load makes the problems.
	load func(s *source) ([]Problem, error)
}

// unsaidLimit is the longest answer in tokens where a benchmark does not say.
const unsaidLimit = 100

// MaxShots is the most worked examples that can be asked for.
const MaxShots = 32

// Options say which problems are loaded and how they are asked.
type Options struct {
	Benchmark string
	Tasks     []string
	Shots     *int // nil = as the benchmark has it
	CoT       *bool
	System    *string // nil = the benchmark's; "" = none
	Dir       string  // a copy of the data set's repository; "" = it is fetched
	Release   string  // of LiveCodeBench
	Pin       string  // release of bfcl-eval that its problems must be of; AnyVersion = any
	Hub       hub.Config
	Spell     setting.Spell // words the settings that errors speak of
}

// Set is what was loaded.
type Set struct {
	*Benchmark
	Problems []Problem
	System   string
	Limit    int
	Stop     []string
}

// Names lists the benchmarks.
func Names() []string {
	names := make([]string, len(Benchmarks))
	for i, b := range Benchmarks {
		names[i] = b.Name
	}
	return names
}

// Find returns a benchmark, nil = there is none of this name.
func Find(name string) *Benchmark {
	i := slices.IndexFunc(Benchmarks, func(b Benchmark) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return &Benchmarks[i]
}

// Check tells what is wrong with what is asked, as far as that shows without the data set; nil = nothing.
func Check(o Options) error {
	b := Find(o.Benchmark)
	if b == nil {
		return unknown(o)
	}
	s := &source{Options: o, bench: b, shots: b.Shots, cot: b.CoT}
	return s.complete()
}

func unknown(o Options) error {
	return fmt.Errorf("%s %q: benchmarks are %s", o.Spell.As("accuracy.benchmark"), o.Benchmark, strings.Join(Names(), ", "))
}

// Load reads the problems of a benchmark.
func Load(ctx context.Context, o Options) (*Set, error) {
	b := Find(o.Benchmark)
	if b == nil {
		return nil, unknown(o)
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
		return nil, fmt.Errorf("%s %s: 0 problems are left of data set %s; %s may name tasks that it does not have", o.Spell.As("accuracy.benchmark"), b.Name, b.Repo, o.Spell.As("accuracy.tasks"))
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

// complete makes of what the user asked what the problems are built by.
func (s *source) complete() error {
	b, as := s.bench, s.Spell.As
	if b.Refuses {
		switch {
		case len(s.Tasks) > 0:
			return fmt.Errorf("%s: %s has no tasks, its problems are asked as a whole", as("accuracy.tasks"), b.Name)
		case s.Shots != nil && *s.Shots != 0:
			return fmt.Errorf("%s %d: %s is asked without worked examples (shots); only 0 is allowed", as("accuracy.n_shots"), *s.Shots, b.Name)
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
	if b.Most > 0 && s.shots > b.Most {
		return fmt.Errorf("%s %d: %s has at most %d worked examples", as("accuracy.n_shots"), s.shots, b.Name, b.Most)
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

// source is a benchmark on its way to be problems.
type source struct {
	Options
	ctx   context.Context //nolint:containedctx // one load, which ends with it
	bench *Benchmark
	tasks []string
	shots int
	cot   bool
	snap  *hub.Snapshot
}

// choose resolves names of tasks that must be spelled as they are; none, or all among them, are all.
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

// chooseAny resolves names that may be written in upper case as well; find looks one up. all stands alone.
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
				return nil, fmt.Errorf("\"all\" cannot be mixed with names of tasks: found %q", names)
			case task == "":
				return nil, unknownTask(n, known)
			}
			tasks = append(tasks, task)
		}
		return tasks, nil
	}
}

func unknownTask(name string, known []string) error {
	return fmt.Errorf("unknown task %q; tasks are %s", name, strings.Join(known, ", "))
}

// row is one row of a data set.
type row struct {
	table.Row
	where string
}

// text is a column that must be text; a number is written out.
func (r row) text(column string) (string, error) {
	switch v := r.Row[column].(type) {
	case string:
		return v, nil
	case int64:
		return fmt.Sprint(v), nil
	case float64:
		return fmt.Sprint(v), nil
	default:
		return "", fmt.Errorf("%s: column %s: found %.40q, want text", r.where, column, fmt.Sprint(v))
	}
}

// texts are columns that must be text.
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

// list is a column that must be a list of texts.
func (r row) list(column string) ([]string, error) {
	items, ok := r.Row[column].([]any)
	if !ok {
		return nil, fmt.Errorf("%s: column %s: found %.40q, want a list of texts", r.where, column, fmt.Sprint(r.Row[column]))
	}
	list := make([]string, len(items))
	for i, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("%s: column %s[%d]: found %.40q, want text", r.where, column, i, fmt.Sprint(item))
		}
		list[i] = text
	}
	return list, nil
}
