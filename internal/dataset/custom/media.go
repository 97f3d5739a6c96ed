package custom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

// modalities are the kinds of content of a turn, in the order in which they are sent; each has a singular key (one string) and a plural
// one (a list).
var modalities = []struct {
	key  string
	kind conversation.Kind
}{{"text", conversation.Text}, {"image", conversation.Image}, {"audio", conversation.Audio}, {"video", conversation.Video}}

// turnKeys are the keys that a turn may have; others are ignored with a warning.
var turnKeys = []string{
	"type", "text", "texts", "image", "images", "image_uuids", "audio", "audios", "video", "videos", "timestamp", "delay", "role",
	"session_id", "output_length", "extra", "token_ids",
}

// readTurn reads what single_turn rows and the turns of multi_turn rows have in common.
func (l *loader) readTurn(r *rows.Row) conversation.Turn {
	wait := r.Duration("delay")
	t := conversation.Turn{
		Timestamp: r.Number("timestamp"),
		Delay:     delay(wait, l.DelayRatio, l.DelayCap),
		MaxTokens: r.Int("output_length", 1),
		ExtraBody: r.Object("extra"),
		Origin:    r.Where,
	}
	t.TokenIDs = tokenIDs(r)
	t.Parts = l.parts(r, "", t.TokenIDs != nil)
	if role := r.String("role"); role != nil {
		t.Role = *role
	}
	if t.Timestamp != nil && *t.Timestamp != 0 && wait != nil && *wait != 0 {
		r.Fault("", "timestamp and delay cannot be set together")
	}
	return t
}

// spellPrompt gives the prompt of a row the name text, where the row has no content under names of ours. A second call changes nothing.
func spellPrompt(r *rows.Row, known []string) {
	if !contains(known, "text") || slices.ContainsFunc(contentKeys, r.Has) {
		return
	}
	for _, key := range promptKeys {
		if rows.Kind(r.Raw(key)) == "string" {
			r.Respell(key, "text")
			return
		}
	}
}

// columnText makes the key that the user named the text of a row. It returns false for a row without it, and notes the fault.
func (l *loader) columnText(r *rows.Row) bool {
	if rows.Kind(r.Raw(l.InputColumn)) != "string" {
		r.Fault(l.InputColumn, "must be a text (%s), got %s", l.Spell.As("datasets.main.input_column"), rows.Kind(r.Raw(l.InputColumn)))
		return false
	}
	r.Copy(l.InputColumn, "text")
	return true
}

// tokenIDs reads a prompt that is token ids already.
func tokenIDs(r *rows.Row) []int32 {
	if !r.Has("token_ids") {
		return nil
	}
	list := r.Ints("token_ids")
	ids := make([]int32, len(list))
	for i, id := range list {
		if ids[i] = int32(id); id < 0 || id > math.MaxInt32 {
			r.Fault("token_ids", "%d is not a token id, want 0 to %d", id, math.MaxInt32)
			return nil
		}
	}
	if len(ids) == 0 {
		r.Fault("token_ids", "the list is empty")
		return nil
	}
	return ids
}

// delay scales a delay by the delay ratio and cuts it to the longest (ms).
func delay(ms *float64, ratio float64, longest *float64) *float64 {
	if ms == nil {
		return nil
	}
	scaled := *ms
	if longest != nil {
		scaled = min(scaled, *longest)
	}
	scaled *= ratio
	return &scaled
}

// filled tells whether a field holds something: an empty string or list counts as nothing.
func filled(r *rows.Row, key string) bool {
	raw := r.Raw(key)
	switch {
	case len(raw) == 0 || string(raw) == `""`:
		return false
	case raw[0] == '[':
		return len(bytes.TrimSpace(raw[1:])) > 1
	}
	return true
}

// parts reads what a row says: its texts, images, sounds and clips. A list of plain strings is one entry of several contents, a list of
// objects is several entries. name is what plain strings are called.
// given tells that the row says something in another way already.
func (l *loader) parts(r *rows.Row, name string, given bool) (parts []conversation.Part) {
	if l.InputColumn == "" {
		spellPrompt(r, turnKeys)
	} else if !l.columnText(r) {
		return nil
	}
	for _, m := range modalities {
		e := entries{loader: l, row: r, kind: m.kind, name: name}
		given = e.read(m.key) || given
		if m.kind == conversation.Image && r.Has("image_uuids") {
			e.label()
			given = true
		}
		parts = append(parts, e.parts...)
	}
	if !given {
		r.Fault("", "at least one of text, texts, image, images, audio, audios, video, videos is needed")
	}
	return parts
}

// entries are the parts of one kind that a row holds.
type entries struct {
	*loader
	row   *rows.Row
	kind  conversation.Kind
	name  string
	parts []conversation.Part
	named bool // given as objects
}

// read reads the singular key or the plural one. given tells whether there is an entry, maybe one that is empty or wrong: the row is then
// not said to be empty as well.
func (e *entries) read(key string) (given bool) {
	r, keys := e.row, key+"s"
	switch {
	case filled(r, key) && filled(r, keys):
		r.Fault("", "%s and %s cannot be set together", key, keys)
		return true
	case filled(r, keys):
		items := r.List(keys)
		switch {
		case items == nil:
		case rows.Kind(items[0]) == "string":
			e.plain(keys, items)
		default:
			e.objects(keys, items)
		}
		return true
	}
	if text := r.String(key); text != nil && *text != "" {
		e.add(r, key, e.name, *text)
	}
	return filled(r, key)
}

// add appends one content. Text is what it is; media is looked at.
func (e *entries) add(r *rows.Row, field, name, content string) {
	p := conversation.Part{Kind: e.kind, Name: name}
	switch {
	case e.kind == conversation.Text:
		p.Text = content
	case content != "":
		var why error
		if p.Blob, why = e.media.blob(r.Where, e.kind, content); why != nil {
			r.Fault(field, "%v", why)
		}
	}
	e.parts = append(e.parts, p)
}

func (e *entries) plain(keys string, items []json.RawMessage) {
	for i, raw := range items {
		var content string
		if rows.Kind(raw) != "string" || json.Unmarshal(raw, &content) != nil {
			e.row.Fault(keys, "must be all strings or all objects: item %d is not a string", i)
			return
		}
		e.add(e.row, fmt.Sprintf("%s[%d]", keys, i), e.name, content)
	}
}

func (e *entries) objects(keys string, items []json.RawMessage) {
	e.named = true
	for i, raw := range items {
		item := e.row.Item(keys, i, raw)
		if item == nil {
			continue
		}
		name := ""
		if given := item.String("name"); given != nil {
			name = *given
			e.labelled = e.labelled || name != ""
		}
		for k, raw := range item.List("contents") {
			var content string
			if rows.Kind(raw) != "string" || json.Unmarshal(raw, &content) != nil {
				item.Fault("contents", "must be strings: item %d is not", k)
				break
			}
			e.add(item, fmt.Sprintf("contents[%d]", k), name, content)
		}
	}
}

// label gives the images their ids; ids alone stand for images that the server knows.
func (e *entries) label() {
	r, ids := e.row, e.row.List("image_uuids")
	switch {
	case ids == nil:
		return
	case filled(r, "image"):
		r.Fault("image_uuids", "needs images as a list, not image")
		return
	case e.named:
		r.Fault("image_uuids", "needs images as plain strings, not as objects")
		return
	case len(e.parts) == 0:
		e.parts = make([]conversation.Part, len(ids))
	case len(e.parts) != len(ids):
		r.Fault("image_uuids", "%d ids for %d images", len(ids), len(e.parts))
		return
	}
	for i, raw := range ids {
		p := &e.parts[i]
		p.Kind = conversation.Image
		if rows.Kind(raw) != "string" || json.Unmarshal(raw, &p.ID) != nil || p.ID == "" {
			r.Fault("image_uuids", "must be strings that are not empty: item %d is not", i)
			return
		}
	}
}
