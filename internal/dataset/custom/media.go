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
		Texts:     texts(r),
		Origin:    r.Where,
	}
	if role := r.String("role"); role != nil {
		t.Role = *role
	}
	if t.Timestamp != nil && *t.Timestamp != 0 && wait != nil && *wait != 0 {
		r.Fault("", "timestamp and delay cannot be set together")
	}
	contents := len(t.Texts) > 0
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

// texts reads text or texts. A list of plain strings is one part with several contents, a list of objects is several parts.
func texts(r *rows.Row) []conversation.Media {
	switch {
	case filled(r, "text") && filled(r, "texts"):
		r.Fault("", "text and texts cannot be set together")
		return unread
	case filled(r, "texts"):
		items := r.List("texts")
		if items == nil {
			return unread
		}
		if rows.Kind(items[0]) == "string" {
			return plainTexts(r, items)
		}
		return namedTexts(r, items)
	}
	text := r.String("text")
	switch {
	case text != nil && *text != "":
		return []conversation.Media{{Contents: []string{*text}}}
	case filled(r, "text"):
		return unread
	}
	return nil
}

// unread stands for a part that is there but wrong, so that the row is not also said to be empty.
var unread = []conversation.Media{{}}

func plainTexts(r *rows.Row, items []json.RawMessage) []conversation.Media {
	contents := make([]string, len(items))
	for i, raw := range items {
		if rows.Kind(raw) != "string" || json.Unmarshal(raw, &contents[i]) != nil {
			r.Fault("texts", "must be all strings or all objects: item %d is not a string", i)
			break
		}
	}
	return []conversation.Media{{Contents: contents}}
}

func namedTexts(r *rows.Row, items []json.RawMessage) []conversation.Media {
	parts := make([]conversation.Media, 0, len(items))
	for i, raw := range items {
		item := r.Item("texts", i, raw)
		if item == nil {
			continue
		}
		var m conversation.Media
		if name := item.String("name"); name != nil {
			m.Name = *name
		}
		for k, content := range item.List("contents") {
			var s string
			if rows.Kind(content) != "string" || json.Unmarshal(content, &s) != nil {
				item.Fault("contents", "must be strings: item %d is not", k)
				break
			}
			m.Contents = append(m.Contents, s)
		}
		parts = append(parts, m)
	}
	if len(parts) == 0 {
		return unread
	}
	return parts
}
