package accuracy

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/accuracy/grade"
)

// Grades judges the answers of a run against the problems and counts the grades. Its methods may be called from several goroutines.
type Grades struct {
	set       *Set
	grader    *grade.Grader
	ctx       context.Context //nolint:containedctx // of the run, whose end ends every judgement
	byID      map[string]int
	printLine func(line string) // nil = no output
	Warn      func(text string) // receives why the first answer without a grade has none; nil = no output

	mu       sync.Mutex
	scores   map[string]*metric.Score
	ungraded int64 // answers without a grade, because the grader failed
}

// NewGrades makes the judge of the answers to a set. tell receives a line for every answer; nil = no output.
func NewGrades(ctx context.Context, set *Set, grader *grade.Grader, tell func(line string)) *Grades {
	g := &Grades{set: set, grader: grader, ctx: ctx, byID: map[string]int{}, printLine: tell, scores: map[string]*metric.Score{}}
	for i := range set.Problems {
		g.byID[ConversationID(i)] = i
	}
	return g
}

// ConversationID returns the session id of a problem.
func ConversationID(problem int) string { return fmt.Sprintf("session_%06d", problem) }

// Encode judges the answer of a request and appends its line. It appends nothing for a warm-up request or a cancelled one.
func (g *Grades) Encode(dst []byte, rec *record.Record, reply *record.Reply, row *metric.Row) []byte {
	if rec.Warmup || row.Class == metric.Cut {
		return dst
	}
	i, asked := g.byID[rec.ConversationID]
	if !asked {
		return dst
	}
	p := &g.set.Problems[i]
	output, thinking := "", ""
	if reply != nil && row.Class == metric.Valid {
		output, thinking = cmp.Or(reply.Output, reply.Reasoning), reply.Reasoning
	}
	r, err := g.grader.Judge(g.ctx, grade.Question{Answer: output, Gold: p.Gold, Task: p.Task, Metadata: p.Metadata})
	if err != nil {
		g.miss(err)
		return dst
	}
	if row.Class == metric.Failed {
		r.Passed, r.Unparsed, r.Confidence = false, true, 0
		r.Explanation = "the request failed; " + r.Explanation
	}
	g.count(p.Task, r)
	if g.printLine != nil {
		g.printLine(fmt.Sprintf("[accuracy] session=%d task=%s correct=%v unparsed=%v reason=%s extracted=%s answer=%s",
			rec.SessionNum, p.Task, r.Passed, r.Unparsed, r.Explanation, brief(r.Extracted, 120), brief(output, 200)))
	}
	o := jsontext.Open(dst)
	o.Int("session_num", rec.SessionNum)
	o.Text("conversation_id", rec.ConversationID)
	o.Text("x_request_id", rec.RequestID)
	o.Text("worker_id", rec.WorkerID)
	o.Text("benchmark_phase", "profiling")
	o.Int("timestamp_ns", rec.Wall(rec.End))
	o.Text("task", p.Task)
	o.Text("grader_name", g.grader.Name)
	o.Bool("passed", r.Passed)
	o.Bool("unparsed", r.Unparsed)
	o.Float("confidence", r.Confidence)
	o.Text("expected", r.Expected)
	o.Text("actual", r.Extracted)
	o.Text("explanation", r.Explanation)
	o.Text("model_output", output)
	o.TextIfAny("model_thinking", thinking)
	return append(o.Close(), '\n')
}

// brief returns the beginning of a text as one line.
func brief(text string, most int) string {
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// miss counts an answer that has no grade, and reports the first one: later ones usually have the same reason.
func (g *Grades) miss(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ungraded++; g.ungraded == 1 && g.Warn != nil {
		g.Warn("an answer has no grade, and the report counts such answers apart: " + err.Error())
	}
}

func (g *Grades) count(task string, r grade.Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.scores[task]
	if s == nil {
		s = &metric.Score{Task: task}
		g.scores[task] = s
	}
	s.Total++
	if r.Passed {
		s.Correct++
	}
	if r.Unparsed {
		s.Unparsed++
	}
}

// Results returns the results so far, by ascending task.
func (g *Grades) Results() *metric.Accuracy {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := &metric.Accuracy{Benchmark: g.set.Name, Grader: g.grader.Name, Ungraded: g.ungraded}
	for _, s := range g.scores {
		a.Tasks = append(a.Tasks, *s)
	}
	sorting.Sort(a.Tasks, func(x, y metric.Score) int { return strings.Compare(x.Task, y.Task) })
	return a
}
