package inputs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/load"
)

// CacheBuster puts a unique marker into every session, so that no prefix cache of a server can answer it (timing, section 11).
type CacheBuster struct {
	target    string
	benchmark string // id of the run
	// count counts the tokens of a text. It is set when generated texts were shortened to make room for the marker: the marker must then have exactly
	// cost tokens. nil = any marker will do.
	count func(text string) int
	cost  int // tokens reserved for a marker
}

// NewCacheBuster returns the CacheBuster of a run, or nil if sessions get no marker. exact = generated texts were shortened to make room for the marker.
func NewCacheBuster(d *config.Dataset, exact bool, benchmark string, tok func() (*tokenizer.Tokenizer, error)) (*CacheBuster, error) {
	target := d.CacheBustTarget()
	if target == config.CacheBustNone {
		return nil, nil
	}
	b := &CacheBuster{target: target, benchmark: benchmark}
	if !exact || WarmupOnly(target) {
		return b, nil
	}
	words, err := tok()
	if err != nil {
		return nil, err
	}
	b.count, b.cost = words.Count, markerCost(target, words.Count)
	return b, nil
}

// ReservesMarker reports whether the texts of the dataset are generated and shortened to make room for the marker: synthetic data, lengths of a trace, or
// a shared system prompt.
func ReservesMarker(d *config.Dataset, info dataset.Info) bool {
	format, _ := custom.Find(info.Type)
	return d.Type == config.DatasetSynthetic || info.Trace && !format.Agents && !format.Columns || d.PrefixPrompts != nil && d.PrefixPrompts.SharedSystemLength > 0
}

// WarmupOnly reports whether only the warm-up gets a marker.
func WarmupOnly(target string) bool { return strings.HasPrefix(target, "warmup_isolation_") }

// inSystemMessage reports whether the marker goes into the system message.
func inSystemMessage(target string) bool {
	return strings.HasPrefix(target, "system_") || target == "warmup_isolation_system"
}

// afterText reports whether the marker follows the text.
func afterText(target string) bool { return strings.HasSuffix(target, "_suffix") }

// markerText returns the marker of a session: 12 hexadecimal digits of the SHA-256 of the run's id, the pass, the place and the id of the
// conversation.
func markerText(target, benchmark string, pass, place int, id string) string {
	if WarmupOnly(target) {
		return "[warmup]\n\n"
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d:%d:%s", benchmark, pass, place, id))
	rid := "[rid:" + hex.EncodeToString(sum[:6]) + "]"
	if afterText(target) {
		return "\n\n" + rid
	}
	return rid + "\n\n"
}

// markerSamples is the number of markers whose mean length is the cost of one, as in the Python tool.
const markerSamples = 8

// markerCost returns the number of tokens to reserve for a marker: the mean length of markerSamples markers.
func markerCost(target string, count func(string) int) int {
	if target == config.CacheBustNone || WarmupOnly(target) {
		return 0
	}
	total := 0
	for i := range markerSamples {
		total += count(markerText(target, "estimator", i, i, fmt.Sprintf("estimator-%d", i)))
	}
	return int(math.RoundToEven(float64(total) / markerSamples))
}

// MarkSession returns the conversation of a session with its marker. Sessions started by other sessions get the marker of the root session that was drawn.
func (b *CacheBuster) MarkSession(s *load.Session, warmup bool, c *conversation.Conversation) *conversation.Conversation {
	if b == nil || WarmupOnly(b.target) && !warmup {
		return c
	}
	root := s
	for root.Parent != nil {
		root = root.Parent
	}
	pass := root.Pass
	marked := *c
	if inSystemMessage(b.target) && c.System != "" {
		marked.System = b.mark(c.System, pass, root)
		return &marked
	}
	marked.Turns = slices.Clone(c.Turns)
	beginnings := marked.Turns[:1] // turns whose text the requests of the session begin with
	switch {
	case c.Mode == conversation.MessageArrayWithResponses:
		beginnings = marked.Turns
	case c.Live():
		beginnings = marked.Turns[s.From : s.From+1]
	}
	known := map[*byte]json.RawMessage{} // messages that already have their marker: the requests of a recording share messages
	for i := range beginnings {
		switch t := &beginnings[i]; {
		case t.RawPayload != nil:
		case t.RawMessages != nil:
			t.RawMessages = b.markMessage(t.RawMessages, pass, root, known)
		default:
			t.Parts = b.markPart(t.Parts, pass, root)
		}
	}
	return &marked
}

// maxMarkers limits how many markers are tried to find one of the wanted length.
const maxMarkers = 64

// mark joins a text and the marker.
func (b *CacheBuster) mark(text string, pass int, root *load.Session) string {
	join := func(try int) string {
		id := root.Shape.ID
		if try > 0 {
			id += fmt.Sprintf(":%d", try)
		}
		m := markerText(b.target, b.benchmark, pass, root.Conversation, id)
		if afterText(b.target) {
			return text + m
		}
		return m + text
	}
	if b.count == nil {
		return join(0)
	}
	want := b.count(text) + b.cost
	for try := range maxMarkers {
		if joined := join(try); b.count(joined) == want {
			return joined
		}
	}
	return join(0)
}

// markPart adds the marker to the first text part, or to the last one if the target is a suffix. It inserts a text part if there is none.
func (b *CacheBuster) markPart(parts []conversation.Part, pass int, root *load.Session) []conversation.Part {
	at := -1
	for i := range parts {
		if parts[i].Kind == conversation.Text && (at < 0 || afterText(b.target)) {
			at = i
		}
	}
	if at < 0 {
		return append([]conversation.Part{{Kind: conversation.Text, Text: strings.TrimSpace(b.mark("", pass, root))}}, parts...)
	}
	marked := slices.Clone(parts)
	marked[at].Text = b.mark(parts[at].Text, pass, root)
	return marked
}

// markMessage adds the marker to the first message of the role that the target names, as text or as a part of a list.
func (b *CacheBuster) markMessage(messages []json.RawMessage, pass int, root *load.Session, known map[*byte]json.RawMessage) []json.RawMessage {
	roles := []string{"user"}
	if inSystemMessage(b.target) {
		roles = []string{"system", "user"}
	}
	for _, role := range roles {
		for i, raw := range messages {
			var m map[string]json.RawMessage
			var is string
			if json.Unmarshal(raw, &m) != nil || json.Unmarshal(m["role"], &is) != nil || is != role {
				continue
			}
			marked := slices.Clone(messages)
			if marked[i] = known[&raw[0]]; marked[i] != nil {
				return marked
			}
			content, ok := b.markContent(m["content"], pass, root)
			if !ok {
				return messages
			}
			marked[i] = withMember(raw, "content", content)
			known[&raw[0]] = marked[i]
			return marked
		}
	}
	return messages
}

// withMember returns a JSON object with a new value for a key; all other bytes are unchanged.
func withMember(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	in := json.NewDecoder(bytes.NewReader(object))
	_, err := in.Token()
	for err == nil && in.More() {
		var name json.Token
		var old json.RawMessage
		if name, err = in.Token(); err == nil {
			err = in.Decode(&old)
		}
		if end := in.InputOffset(); err == nil && name == key {
			return slices.Concat(object[:end-int64(len(old))], value, object[end:])
		}
	}
	return object
}

// markContent adds the marker to the content of a message. It returns false if the content is neither a text nor a list of parts.
func (b *CacheBuster) markContent(content json.RawMessage, pass int, root *load.Session) (json.RawMessage, bool) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		marked, err := json.Marshal(b.mark(text, pass, root))
		return marked, err == nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return nil, false
	}
	part, err := json.Marshal(map[string]string{"type": "text", "text": strings.TrimSpace(b.mark("", pass, root))})
	if err != nil {
		return nil, false
	}
	if afterText(b.target) {
		parts = append(parts, part)
	} else {
		parts = append([]json.RawMessage{part}, parts...)
	}
	marked, err := json.Marshal(parts)
	return marked, err == nil
}
