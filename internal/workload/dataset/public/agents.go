package public

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"aiperf/internal/workload/conversation"
)

// agents are sets of recorded agent sessions (release notes of Exgentic; public-datasets.json, exgentic).
var agents = []Set{
	{Name: "exgentic", Repo: "Exgentic/agent-llm-traces", Revision: "70036b93a04e61b0ea2706a68b962f4f26774587", Split: "train", Modality: "text", Streamed: true, Filters: true, Sessions: true,
		columns: []string{"session_id", "harness", "models", "spans"}, mode: conversation.MessageArrayWithResponses, open: sessions(false)},
	{Name: "exgentic_v2", Repo: "Exgentic/agent-llm-traces-v2", Revision: "4b8ad4ab198438e5a170f9171c19c6a2cf7c1814", Split: "train", Modality: "text", Streamed: true, Filters: true, Sessions: true,
		columns: []string{"session_id", "harness", "models", "spans", "benchmark"}, mode: conversation.MessageArrayWithResponses, open: sessions(true)},
}

// Values in the releases, for the filters.
var (
	harnesses    = []string{"claude_code", "openai_solo", "smolagents_code", "tool_calling", "tool_calling_with_shortlisting"}
	sourceModels = []string{"DeepSeek-V3.2", "Kimi-K2.5", "claude-opus-4-5", "gemini-3-pro-preview", "gpt-4.1", gpt52}
	benchmarks   = []string{"appworld", "browsecompplus", "swebench", "tau2_airline", "tau2_retail", "tau2_telecom"}
)

const gpt52 = "gpt-5.2-2025-12-11"

// missing lists the combinations that a release does not have: harness -> models; "" = any harness.
var missing = map[bool]map[string][]string{
	false: {
		"openai_solo": {gpt52}, "smolagents_code": {"claude-opus-4-5", "gemini-3-pro-preview", gpt52}, "tool_calling": {gpt52},
		"tool_calling_with_shortlisting": {"claude-opus-4-5", "gpt-4.1", gpt52},
	},
	true: {"": {"gpt-4.1"}, "tool_calling_with_shortlisting": {"claude-opus-4-5", gpt52}},
}

// vendors are prefixes of recorded model names.
var vendors = []string{"openai/azure/", "azure/", "aws/", "gcp/"}

// sessionFilter selects sessions.
type sessionFilter struct{ harness, model, benchmark string }

// newFilter parses "key=value" filters.
func newFilter(b *builder, second bool) (f sessionFilter, err error) {
	name := b.Spell.As("datasets.main.filters")
	for _, text := range b.options.Filters {
		key, value, _ := strings.Cut(text, "=")
		var to *string
		var known []string
		switch key {
		case "harness":
			to, known = &f.harness, harnesses
		case "source_model":
			to, known = &f.model, sourceModels
		case "benchmark":
			if !second {
				return f, fmt.Errorf("%s benchmark: only exgentic_v2 records the benchmark", name)
			}
			to, known = &f.benchmark, benchmarks
		default:
			return f, fmt.Errorf("%s %s: must be harness, source_model or, with exgentic_v2, benchmark", name, key)
		}
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, bare(value)) })
		if i < 0 {
			return f, fmt.Errorf("%s %s=%s: must be one of %s", name, key, value, strings.Join(known, ", "))
		}
		*to = known[i]
	}
	lacks := missing[second]
	if slices.Contains(lacks[""], f.model) {
		return f, fmt.Errorf("%s source_model=%s: no session of %s has this model", name, f.model, b.set.Name)
	}
	if f.harness != "" && slices.Contains(lacks[f.harness], f.model) {
		return f, fmt.Errorf("%s harness=%s source_model=%s: no session of %s has this combination", name, f.harness, f.model, b.set.Name)
	}
	return f, nil
}

// bare returns a model name without its vendor.
func bare(model string) string {
	for _, v := range vendors {
		if len(model) > len(v) && strings.EqualFold(model[:len(v)], v) {
			return model[len(v):]
		}
	}
	return model
}

func (f sessionFilter) keeps(r row) bool {
	if f.harness != "" && optional(r.Row["harness"]) != f.harness || f.benchmark != "" && optional(r.Row["benchmark"]) != f.benchmark {
		return false
	}
	if f.model == "" {
		return true
	}
	models, _ := r.Row["models"].([]any)
	return slices.ContainsFunc(models, func(m any) bool { return strings.EqualFold(bare(optional(m)), f.model) })
}

// sessions replays the model calls of recorded sessions. second = the second release.
func sessions(second bool) func(*builder) (convert, error) {
	return func(b *builder) (convert, error) {
		filter, err := newFilter(b, second)
		if err != nil {
			return nil, err
		}
		if b.options.Entries <= 0 && b.options.Requests <= 0 {
			return nil, errors.New(b.Spell.Text("the number of sessions is missing; set {datasets.main.entries}, {phases.profiling.sessions} or {phases.profiling.requests}"))
		}
		seen := map[string]bool{}
		return func(r row) error {
			if !filter.keeps(r) {
				return b.skip("of other sessions")
			}
			id := text(r.Row["session_id"])
			if seen[id] {
				return fmt.Errorf("%s: session %s exists twice", r.where, id)
			}
			seen[id] = true
			calls, err := replayable(r.Row["spans"])
			if err != nil {
				return fmt.Errorf("%s: session %s %w", r.where, id, err)
			}
			if len(calls) == 0 {
				return b.skip("without a call to replay")
			}
			b.addSession(id, r.where, calls)
			return nil
		}, nil
	}
}

// addSession adds a session: one turn per call, each after the recorded pause. On a schedule, each call is a separate conversation.
func (b *builder) addSession(id, where string, calls []call) {
	var turns []conversation.Turn
	for i, c := range calls {
		t := c.turn
		t.Origin = where
		t.ExtraHeaders = []conversation.Header{{Name: "x-dynamo-session-id", Value: id}}
		if b.options.Scheduled {
			at := milliseconds(c.start.Sub(calls[0].start))
			t.Timestamp = &at
			b.Add(conversation.Conversation{ID: fmt.Sprintf("%s:%d", id, c.index), Turns: []conversation.Turn{t}})
			continue
		}
		if i > 0 {
			pause := max(0, milliseconds(c.start.Sub(calls[i-1].end))) * b.DelayRatio
			t.Delay = &pause
		}
		turns = append(turns, t)
	}
	if !b.options.Scheduled {
		b.Add(conversation.Conversation{ID: id, Turns: turns})
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// call is a span of a model call.
type call struct {
	index      int // index in the list of spans
	start, end time.Time
	turn       conversation.Turn
}

// replayable returns the model calls in the spans of a session, by start time.
func replayable(v any) (calls []call, err error) {
	list, _ := v.([]any)
	for i, item := range list {
		s, _ := item.(map[string]any)
		attributes, _ := s["attributes"].(map[string]any)
		if !isCall(s, attributes) {
			continue
		}
		c, err := newCall(s, attributes)
		if err != nil {
			return nil, fmt.Errorf("span %d: %w", i, err)
		}
		if c == nil {
			continue
		}
		c.index = i
		calls = append(calls, *c)
	}
	sort.SliceStable(calls, func(i, j int) bool { return calls[i].start.Before(calls[j].start) })
	return calls, nil
}

func isCall(s, attributes map[string]any) bool {
	kind := s["type"]
	if kind != "llm_call" && (kind != nil || attributes["gen_ai.operation.name"] != "chat") {
		return false
	}
	status, _ := s["status"].(map[string]any)
	return status["code"] != int64(2)
}

// newCall parses a span; nil = it used no tokens.
func newCall(s, attributes map[string]any) (*call, error) {
	in, err := wholeNumber(attributes, "gen_ai.usage.input_tokens")
	if err != nil {
		return nil, err
	}
	out, err := wholeNumber(attributes, "gen_ai.usage.output_tokens")
	if err != nil || in <= 0 || out <= 0 {
		return nil, err
	}
	c := &call{}
	if c.start, err = instant(s["start_time"]); err != nil {
		return nil, fmt.Errorf("start_time: %w", err)
	}
	if c.end, err = instant(s["end_time"]); err != nil {
		return nil, fmt.Errorf("end_time: %w", err)
	}
	if c.end.Before(c.start) {
		return nil, errors.New("ends before it starts")
	}
	most, err := wholeNumber(attributes, "gen_ai.request.max_tokens")
	if err != nil {
		return nil, err
	}
	if most <= 0 {
		most = out
	}
	length := int(most)
	c.turn.MaxTokens = &length
	if c.turn.RawMessages, err = messages(attributes); err != nil {
		return nil, err
	}
	if c.turn.RawTools, err = tools(attributes["gen_ai.tool.definitions"]); err != nil {
		return nil, err
	}
	c.turn.ExtraBody, err = sampling(attributes)
	return c, err
}

func wholeNumber(attributes map[string]any, key string) (int64, error) {
	switch v := attributes[key].(type) {
	case nil:
		return 0, nil
	case int64:
		return v, nil
	case float64:
		if v == float64(int64(v)) {
			return int64(v), nil
		}
	}
	return 0, fmt.Errorf("%s: must be an integer, got %.40v", key, attributes[key])
}

// instant parses an ISO 8601 time. A time without a zone is UTC.
func instant(v any) (time.Time, error) {
	s := optional(v)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("must be a time such as 2025-06-01T10:00:00Z, got %.40q", s)
}

// sampling returns the body members with the sampling parameters.
func sampling(attributes map[string]any) (json.RawMessage, error) {
	var members []string
	if t := attributes["gen_ai.request.temperature"]; t != nil {
		b, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		number := string(b)
		if _, ok := t.(float64); ok && !strings.ContainsAny(number, ".e") {
			number += ".0"
		}
		members = append(members, `"temperature":`+number)
	}
	if stops, _ := attributes["gen_ai.request.stop_sequences"].([]any); len(stops) > 0 {
		b, err := compact(stops)
		if err != nil {
			return nil, err
		}
		members = append(members, `"stop":`+string(b))
	}
	if members == nil {
		return nil, nil
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}"), nil
}

// compact encodes a value as JSON without white space and unnecessary escapes.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
