package custom

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
)

// row is the first row of a file, as far as telling formats apart needs it.
type row map[string]json.RawMessage

func (r row) has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return r[key] == nil })
}

func (r row) any(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return r[key] != nil })
}

func (r row) is(key, kind string) bool { return r[key] != nil && rows.Kind(r[key]) == kind }

// typed returns the format that the row names itself.
func (r row) typed() (string, bool) {
	var name string
	if !r.is("type", "string") || json.Unmarshal(r["type"], &name) != nil {
		return "", false
	}
	_, known := Find(name)
	return name, known
}

// turnsWithMessages tells whether some turn carries a message array.
func (r row) turnsWithMessages() bool {
	var turns []json.RawMessage
	if json.Unmarshal(r["turns"], &turns) != nil {
		return false
	}
	return slices.ContainsFunc(turns, func(raw json.RawMessage) bool {
		var turn row
		return json.Unmarshal(raw, &turn) == nil && turn.any("messages")
	})
}

// rules tell the format from the first row; the first that fits wins.
var rules = []struct {
	format string
	fits   func(row) bool
}{
	{"sagemaker_data_capture", func(r row) bool { return r.has("captureData") }},
	{"weka_trace", func(r row) bool { return r.is("requests", "array") && r.any("hash_id_scope", "block_size") }},
	{"dag_jsonl", func(r row) bool {
		return r.is("turns", "array") && r.turnsWithMessages() || r.any("spawns", "orchestrator", "rounds")
	}},
	{"multi_turn", func(r row) bool { return r.is("turns", "array") }},
	{"bailian_trace", func(r row) bool { return r.has("chat_id", "timestamp", "input_length", "output_length") }},
	{"tracelab", func(r row) bool { return r.has("round_index", "input_tokens_total") }},
	{"speed_bench", func(r row) bool { return r.has("question_id", "category", "messages") }},
	{"mooncake_trace", func(r row) bool { return r.any("input_length", "text_input") || r.is("payload", "object") }},
	{"mooncake_trace", func(r row) bool {
		return r.is("messages", "array") && r.any("timestamp", "delay", "output_length", "session_id", "hash_ids", "message_mode")
	}},
	{"raw_payload", func(r row) bool {
		return r.is("messages", "array") && !r.has("conversation_id") && !r.is("data", "array")
	}},
	{"single_turn", func(r row) bool {
		return r.any("text", "texts", "image", "images", "audio", "audios", "video", "videos")
	}},
}

// detect finds the format of a file by its first rows.
func detect(path string) (string, error) {
	var first rows.Line
	if err := rows.Read(path, func(l rows.Line) bool { first = l; return false }); err != nil {
		return "", err
	}
	text := string(first.Text)
	switch {
	case text[0] == '{': // not a table, whatever words its texts hold
	case strings.HasPrefix(text, "PAR1"), strings.HasPrefix(text, "ARROW1"):
		return "baseten_trace", nil
	case strings.Contains(text, "Timestamp") && strings.Contains(text, "Request tokens") && strings.Contains(text, "Response tokens"):
		return "burst_gpt_trace", nil
	}
	var r row
	if json.Unmarshal(first.Text, &r) != nil {
		if isInputs(path) {
			return "inputs_json", nil
		}
		var faults dataset.Faults
		if rows.Parse(first.Where(), first.Text, &faults); text[0] == '{' || text[0] == '[' {
			return "", faults.Err()
		}
		return "", unknown(first.Where(), "the first line is no JSON object")
	}
	if name, ok := r.typed(); ok {
		return name, nil
	}
	maps.DeleteFunc(r, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	if r.is("data", "array") && isInputs(path) {
		return "inputs_json", nil
	}
	for _, rule := range rules {
		if rule.fits(r) {
			return rule.format, nil
		}
	}
	keys := slices.Sorted(maps.Keys(r))
	return "", unknown(first.Where(), "keys: "+strings.Join(keys, ", "))
}

func unknown(where, seen string) error {
	return errors.New(where + ": cannot tell the format of the file (" + seen + "); name it with --custom-dataset-type: " + names())
}
