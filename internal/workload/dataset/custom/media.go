package custom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

// modalities are the kinds of content of a turn, in the order in which they are sent. Each has a singular key (one string) and a plural key (a list).
var modalities = []struct {
	key  string
	kind conversation.Kind
}{{"text", conversation.Text}, {"image", conversation.Image}, {"audio", conversation.Audio}, {"video", conversation.Video}}

// turnKeys are the keys that a turn may have. Others are ignored with a warning.
var turnKeys = []string{
	"type", "text", "texts", "image", "images", "image_uuids", "audio", "audios", "video", "videos", "timestamp", "delay", "role",
	"session_id", "output_length", "extra", "token_ids",
}

// readTurn reads the fields that single_turn rows and turns of multi_turn rows have in common.
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

// spellPrompt renames the prompt key of a row to text, if the row has no content under our own keys. A second call changes nothing.
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

// columnText copies the key that the user named to text. For a row without it, it adds an error and returns false.
func (l *loader) columnText(r *rows.Row) bool {
	if rows.Kind(r.Raw(l.InputColumn)) != "string" {
		r.Fault(l.InputColumn, "must be a text (%s), got %s", l.Spell.As("datasets.main.input_column"), rows.Kind(r.Raw(l.InputColumn)))
		return false
	}
	r.Copy(l.InputColumn, "text")
	return true
}

// tokenIDs reads a prompt that is given as token ids.
func tokenIDs(r *rows.Row) []int32 {
	if !r.Has("token_ids") {
		return nil
	}
	list := r.Ints("token_ids")
	ids := make([]int32, len(list))
	for i, id := range list {
		if ids[i] = int32(id); id < 0 || id > math.MaxInt32 {
			r.Fault("token_ids", "%d is not a token id; allowed are 0 to %d", id, math.MaxInt32)
			return nil
		}
	}
	if len(ids) == 0 {
		r.Fault("token_ids", "the list is empty")
		return nil
	}
	return ids
}

// delay limits a delay to longest (ms) and then multiplies it by the delay ratio.
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

// filled reports whether a field has content: an empty string or list has none.
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

// parts reads the texts, images, audio and video of a row. A list of strings is one entry with several contents. A list of objects is several entries.
// name is the name of plain strings. given = the row has content in another form, so that no texts or media are required.
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

// entries are the parts of one kind in a row.
type entries struct {
	*loader
	row   *rows.Row
	kind  conversation.Kind
	name  string
	parts []conversation.Part
	named bool // given as objects
}

// read reads the singular or the plural key. given = the key is present, even if empty or invalid. The row is then not reported as empty too.
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

// add appends one content. It checks media; text needs no check.
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
			e.hasNames = e.hasNames || name != ""
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

// label sets the ids of the images. Ids without images refer to images that the server knows.
func (e *entries) label() {
	r, ids := e.row, e.row.List("image_uuids")
	switch {
	case ids == nil:
		return
	case filled(r, "image"):
		r.Fault("image_uuids", "needs the list images, not the single value image")
		return
	case e.named:
		r.Fault("image_uuids", "needs images as a list of strings, not of objects")
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
			r.Fault("image_uuids", "must be non-empty strings: item %d is not", i)
			return
		}
	}
}
