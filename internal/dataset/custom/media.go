package custom

import (
	"encoding/json"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

// modalities are the kinds of content of a turn; each has a singular key (one string) and a plural one (a list).
var modalities = []string{"text", "image", "audio", "video"}

// turnKeys are the keys that a turn may have; others are ignored with a warning.
var turnKeys = []string{
	"type", "text", "texts", "image", "images", "image_uuids", "audio", "audios", "video", "videos", "timestamp", "delay", "role",
	"session_id", "output_length", "extra",
}

// readTurn reads what single_turn rows and the turns of multi_turn rows have in common.
func readTurn(r *rows.Row, ratio float64, cap *float64) conversation.Turn {
	wait := r.Duration("delay")
	t := conversation.Turn{
		Timestamp: r.Number("timestamp"),
		Delay:     delay(wait, ratio, cap),
		MaxTokens: r.Int("output_length", 1),
		ExtraBody: r.Object("extra"),
		Origin:    r.Where,
	}
	var contents bool
	t.Parts, contents = texts(r)
	if role := r.String("role"); role != nil {
		t.Role = *role
	}
	if t.Timestamp != nil && *t.Timestamp != 0 && wait != nil && *wait != 0 {
		r.Fault("", "timestamp and delay cannot be set together")
	}
	for _, kind := range modalities[1:] {
		for _, key := range []string{kind, kind + "s"} {
			if filled(r, key) {
				contents = true
				r.Fault(key, "not built yet (only texts)")
			}
		}
	}
	if r.Has("image_uuids") {
		contents = true
		r.Fault("image_uuids", "not built yet (only texts)")
	}
	if !contents {
		r.Fault("", "at least one of text, texts, image, images, audio, audios, video, videos is needed")
	}
	return t
}

// delay scales a delay by the delay ratio and cuts it to the cap (ms).
func delay(ms *float64, ratio float64, cap *float64) *float64 {
	if ms == nil {
		return nil
	}
	scaled := *ms
	if cap != nil {
		scaled = min(scaled, *cap)
	}
	scaled *= ratio
	return &scaled
}

// filled tells whether a field holds something: an empty string or list counts as nothing.
func filled(r *rows.Row, key string) bool {
	raw := string(r.Raw(key))
	return raw != "" && raw != `""` && strings.Join(strings.Fields(raw), "") != "[]"
}

// texts reads text or texts. A list of plain strings is one entry with several contents, a list of objects is several entries. given
// tells whether there is an entry, maybe one that is empty or wrong: the row is then not said to be empty as well.
func texts(r *rows.Row) (parts []conversation.Part, given bool) {
	switch {
	case filled(r, "text") && filled(r, "texts"):
		r.Fault("", "text and texts cannot be set together")
		return nil, true
	case filled(r, "texts"):
		items := r.List("texts")
		if items == nil {
			return nil, true
		}
		if rows.Kind(items[0]) == "string" {
			return plainTexts(r, items), true
		}
		return namedTexts(r, items), true
	}
	text := r.String("text")
	if text != nil && *text != "" {
		return conversation.Texts("", *text), true
	}
	return nil, filled(r, "text")
}

func plainTexts(r *rows.Row, items []json.RawMessage) []conversation.Part {
	contents := make([]string, len(items))
	for i, raw := range items {
		if rows.Kind(raw) != "string" || json.Unmarshal(raw, &contents[i]) != nil {
			r.Fault("texts", "must be all strings or all objects: item %d is not a string", i)
			break
		}
	}
	return conversation.Texts("", contents...)
}

func namedTexts(r *rows.Row, items []json.RawMessage) []conversation.Part {
	var parts []conversation.Part
	for i, raw := range items {
		item := r.Item("texts", i, raw)
		if item == nil {
			continue
		}
		p := conversation.Part{}
		if name := item.String("name"); name != nil {
			p.Name = *name
		}
		for k, content := range item.List("contents") {
			if rows.Kind(content) != "string" || json.Unmarshal(content, &p.Text) != nil {
				item.Fault("contents", "must be strings: item %d is not", k)
				break
			}
			parts = append(parts, p)
		}
	}
	return parts
}
