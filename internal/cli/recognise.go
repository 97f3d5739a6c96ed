package cli

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// recognise names the format of a first row, empty when none fits (spec: datasets, section 3).
func recognise(keys map[string]json.RawMessage) string {
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := keys[n]; !ok {
				return false
			}
		}
		return true
	}
	any1 := func(names ...string) bool { return slices.ContainsFunc(names, func(n string) bool { return has(n) }) }
	list := func(name string) bool { return strings.HasPrefix(strings.TrimSpace(string(keys[name])), "[") }
	var stated string
	if json.Unmarshal(keys["type"], &stated) == nil && slices.Contains(fileTypes(), stated) {
		return stated
	}
	tests := []struct {
		name string
		fits bool
	}{
		{"inputs_json", list("data") && strings.Contains(string(keys["data"]), `"payloads"`)},
		{"sagemaker_data_capture", has("captureData")},
		{"weka_trace", list("requests") && any1("hash_id_scope", "block_size")},
		{"dag_jsonl", list("turns") && strings.Contains(string(keys["turns"]), `"messages"`) || any1("spawns", "orchestrator", "rounds")},
		{"multi_turn", list("turns")},
		{"bailian_trace", has("chat_id", "timestamp", "input_length", "output_length")},
		{"tracelab", has("round_index", "input_tokens_total")},
		{"speed_bench_qualitative", has("question_id", "category", "messages")},
		{"mooncake_trace", any1("input_length", "text_input") || strings.HasPrefix(strings.TrimSpace(string(keys["payload"])), "{")},
		{"mooncake_trace", list("messages") && any1("timestamp", "delay", "output_length", "session_id", "hash_ids", "message_mode")},
		{"raw_payload", list("messages") && !has("conversation_id") && !list("data")},
		{"single_turn", any1("text", "texts", "image", "images", "audio", "audios", "video", "videos")},
	}
	for _, t := range tests {
		if t.fits {
			return t.name
		}
	}
	return ""
}

func keyList(keys map[string]json.RawMessage) string {
	if len(keys) == 0 {
		return "(none)"
	}
	return strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
}
