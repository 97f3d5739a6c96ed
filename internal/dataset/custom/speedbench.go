package custom

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

const (
	// speedBench is the beginning of the names of the speed_bench family; the rest names a split, a category, or both.
	speedBench = "speed_bench_"
	// QuestionID is the length of a question's id, in characters.
	QuestionID = 32
	// SpeedBenchStub stands in published files of SPEED-Bench in place of content that may not be published.
	SpeedBenchStub = "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH"
)

// speedBenchCategory is the category that a name of the family takes rows of; "" = all.
func speedBenchCategory(name string) string {
	name, ok := strings.CutPrefix(name, speedBench)
	if rest, tiered := strings.CutPrefix(name, "throughput_"); tiered {
		_, name, ok = strings.Cut(rest, "_")
	}
	if !ok || name == "qualitative" {
		return ""
	}
	return name
}

// readSpeedBench reads a question a row: each of its messages is a turn of its own, a system message in front too.
func readSpeedBench(l *loader, path string) error {
	places := map[string]int{}
	return l.rows(path, questionKeys, func(r *rows.Row) {
		if e := questionEntry(l, r); !e.left {
			c := l.conversation(e.ID, places)
			c.Turns = append(c.Turns, e.Turns...)
		}
	})
}

var questionLayout = layout{supply: openLines, keys: questionKeys, entry: questionEntry}

// questionEntry is a row on its own. One of another category than the one that is asked for is left out, as is one that has a fault.
func questionEntry(l *loader, r *rows.Row) (e entry) {
	id, kind, turns := question(r)
	if len(turns) == 0 {
		return entry{left: true}
	}
	category := speedBenchCategory(l.Type)
	e.ID, e.Turns = id, turns
	if e.left = category != "" && kind != category; e.left {
		if l.others == nil {
			l.others = map[string]bool{}
		}
		l.others[kind] = true
	}
	return e
}

// questionKeys are the keys of a row; others are ignored with a warning.
var questionKeys = []string{"question_id", "category", "messages"}

// question reads a row; no turns = it has a fault.
func question(r *rows.Row) (id, category string, turns []conversation.Turn) {
	for _, key := range questionKeys {
		if !r.Has(key) {
			r.Fault(key, "missing")
		}
	}
	name, kind := r.String("question_id"), r.String("category")
	if name != nil && utf8.RuneCountInString(*name) != QuestionID {
		r.Fault("question_id", "must have %d characters, got %d", QuestionID, utf8.RuneCountInString(*name))
	}
	if kind != nil && *kind == "" {
		r.Fault("category", "must not be empty")
	}
	turns = questions(r)
	if name == nil || kind == nil {
		return "", "", nil
	}
	return *name, *kind, turns
}

// questions are the turns of a row.
func questions(r *rows.Row) []conversation.Turn {
	items := r.List("messages")
	if items != nil && len(items) == 0 {
		r.Fault("messages", "must not be empty")
	}
	var turns []conversation.Turn
	for i, raw := range items {
		m := r.Item("messages", i, raw)
		if m == nil {
			continue
		}
		text := map[string]string{}
		for _, key := range []string{"role", "content"} {
			value := m.String(key)
			switch {
			case value == nil && !m.Has(key):
				m.Fault(key, "missing")
			case value != nil && strings.TrimSpace(*value) == "":
				m.Fault(key, "must not be blank")
			case value != nil:
				text[key] = *value
			}
		}
		if text["content"] == SpeedBenchStub {
			m.Fault("content", "is a placeholder: fetch the whole data from the benchmark's source")
		}
		turns = append(turns, conversation.Turn{Role: text["role"], Parts: conversation.Texts("", text["content"]), Origin: r.Where})
	}
	return turns
}

// glanceQuestions counts the turns of a row of messages.
func glanceQuestions(l *Look, path string) error {
	category := speedBenchCategory(l.named)
	return l.rowsOf(path, func(r *rows.Row) (glimpse, bool) {
		var messages []json.RawMessage
		_ = json.Unmarshal(r.Raw("messages"), &messages) // what is none is a fault when the file is read
		kind := ""
		_ = json.Unmarshal(r.Raw("category"), &kind)
		return glimpse{turns: max(1, len(messages))}, category == "" || kind == category
	})
}
