package inputs

import (
	"context"
	"encoding/json"
	"fmt"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/load"
)

// OpenAccuracyProblems makes one conversation with one request of every problem of a benchmark. Chat endpoints get messages, other types one text.
func OpenAccuracyProblems(ctx context.Context, agent string, b *config.Benchmark, e *endpoint.Endpoint, root *rng.Root, set *accuracy.Set) (dataset.Dataset, error) {
	assignment := dataset.Assignment{Models: b.Models.Asked(), Strategy: string(b.Models.Strategy), Weights: b.Models.Weights()}
	o := fileOptions(ctx, agent, b, b.Dataset(), e, root, synth.Context{}, assignment, nil)
	return custom.Collect(set.Name, o, dataset.Info{Type: "accuracy", Stated: true}, func(l *custom.Loader) error {
		for i := range set.Problems {
			l.Add(conversation.Conversation{ID: accuracy.ConversationID(i), Turns: []conversation.Turn{problemTurn(set, &set.Problems[i], e)}})
		}
		return nil
	})
}

// problemTurn returns the request of a problem.
func problemTurn(set *accuracy.Set, p *accuracy.Problem, e *endpoint.Endpoint) conversation.Turn {
	limit := set.Limit
	t := conversation.Turn{MaxTokens: &limit, Origin: set.Name + " " + p.Task}
	if len(set.Stop) > 0 {
		o := jsontext.Open(nil)
		o.Key("stop")
		for i, word := range set.Stop {
			o.B = append(o.B, "[,"[min(i, 1)])
			o.B = jsontext.AppendString(o.B, word)
		}
		o.B = append(o.B, ']')
		t.ExtraBody = o.Close()
	}
	if !e.SystemMessage {
		text := p.Text
		if set.System != "" {
			text = set.System + "\n\n" + text
		}
		t.Parts = conversation.Texts("", text)
		return t
	}
	messages := p.Turns
	if set.System != "" {
		messages = append([]accuracy.Message{{Role: "system", Content: set.System}}, messages...)
	}
	for _, m := range messages {
		o := jsontext.Open(nil)
		o.Text("role", m.Role)
		o.Text("content", m.Content)
		t.RawMessages = append(t.RawMessages, json.RawMessage(o.Close()))
	}
	return t
}

// SetRequestCounts sets the request count of phases without an end to the number of problems, and warns if a phase sends fewer requests than that.
func SetRequestCounts(s *load.Scenario, set *accuracy.Set, b *config.Benchmark, warn func(string)) {
	if set == nil {
		return
	}
	for i := range s.Phases {
		p := &s.Phases[i]
		switch n := int64(len(set.Problems)); {
		case p.Warmup:
		case p.Requests == 0 && p.Sessions == 0 && p.Duration == 0:
			p.Requests = n
		case p.Requests > 0 && p.Requests < n:
			warn(fmt.Sprintf("%s %d: of the %d problems of %s only this number is sent and graded", b.As("phases.profiling.requests"), p.Requests, n, set.Name))
		}
	}
}
