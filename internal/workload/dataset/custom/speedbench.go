package custom

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

const (
	// speedBench is the prefix of the format names of the speed_bench family. The rest names a split, a category, or both.
	speedBench = "speed_bench_"
	// QuestionID is the length of a question id, in characters.
	QuestionID = 32
	// SpeedBenchStub replaces content that may not be published in the published SPEED-Bench files.
	SpeedBenchStub = "FULL BENCHMARK DATA SHOULD BE FETCHED FROM THE SOURCE USING SPECDEC_BENCH"
)

// speedBenchCategory returns the category that a format name selects; "" = all.
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

// readSpeedBench reads one question per row. Each of its messages is a separate turn, including a leading system message.
func readSpeedBench(l *loader, path string) error {
	places := map[string]int{}
	return l.rows(path, questionKeys, func(r *rows.Row) {
		if e := questionEntry(l, r); !e.skipped {
			c := l.conversation(e.ID, places)
			c.Turns = append(c.Turns, e.Turns...)
		}
	})
}

var questionLayout = layout{supply: openLines, keys: questionKeys, entry: questionEntry}

// questionEntry reads one row. It skips a row of another category than the requested one, and a row with an error.
func questionEntry(l *loader, r *rows.Row) (e entry) {
	id, kind, turns := question(r)
	if len(turns) == 0 {
		return entry{skipped: true}
	}
	category := speedBenchCategory(l.Type)
	e.ID, e.Turns = id, turns
	if e.skipped = category != "" && kind != category; e.skipped {
		if l.otherCategories == nil {
			l.otherCategories = map[string]bool{}
		}
		l.otherCategories[kind] = true
	}
	return e
}

// questionKeys are the keys of a row. Others are ignored with a warning.
var questionKeys = []string{"question_id", "category", "messages"}

// question reads a row. No turns = the row has an error.
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

// questions returns the turns of a row.
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
			m.Fault("content", "is a placeholder; download the full data from the benchmark's source")
		}
		turns = append(turns, conversation.Turn{Role: text["role"], Parts: conversation.Texts("", text["content"]), Origin: r.Where})
	}
	return turns
}

// glanceQuestions counts the turns of all rows.
func glanceQuestions(l *FileSample, path string) error {
	category := speedBenchCategory(l.named)
	return l.rowsOf(path, func(r *rows.Row) (rowSample, bool) {
		var messages []json.RawMessage
		_ = json.Unmarshal(r.Raw("messages"), &messages) // reading the file reports an invalid list
		kind := ""
		_ = json.Unmarshal(r.Raw("category"), &kind)
		return rowSample{turns: max(1, len(messages))}, category == "" || kind == category
	})
}
