package endpoint

import (
	"fmt"
	"slices"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// tokenType is an endpoint type with token ids as prompts: those of a row, or the tokenized texts of the turn. The ids of earlier turns and of their
// answers precede those of the turn.
type tokenType struct {
	jsonType
	name string
	// frame writes a body with the ids and the sampling parameters.
	frame func(b *body, t *conversation.Turn, x *tokenBody)
	// ignoreEOS: the server generates the full requested length unless the user says otherwise.
	ignoreEOS bool
	// lengthKey is the sampling parameter for the length of the answer; it follows the parameters of the run.
	lengthKey string
}

// tokenBody is the input of frame.
type tokenBody struct {
	ids      []int32
	sampling object
	priority []byte // JSON; nil = none
	id       string // id of the request
}

// tokenCodec is the codec of a tokenType in a run. sampling and hints are removed from the extras, because they are merged instead of replaced.
type tokenCodec struct {
	*jsonCodec
	kind     *tokenType
	sampling object
	priority []byte
}

func (k *tokenType) open(s Settings) (Codec, error) {
	sampling, err := takeObject(&s, "sampling_params")
	if err != nil {
		return nil, err
	}
	hints, err := takeObject(&s, "nvext")
	if err != nil {
		return nil, err
	}
	inner, err := k.jsonType.open(s)
	if err != nil {
		return nil, err
	}
	c := &tokenCodec{jsonCodec: inner.(*jsonCodec), kind: k, priority: strictPriority(hints)}
	c.sampling.merge(&jsontext.Scanner{Doc: sampling})
	return c, nil
}

// takeObject removes an extra with an object value from the list and returns it; nil = none.
func takeObject(s *Settings, key string) (value []byte, err error) {
	var rest []Member
	for _, m := range s.Extras {
		if m.Key != key {
			rest = append(rest, m)
			continue
		}
		var o object
		scan := jsontext.Scanner{Doc: m.Value}
		if o.merge(&scan); !scan.Done() {
			return nil, fmt.Errorf("%s %s: must be a JSON object, got %.80s", s.Spell.As("endpoint.extra"), key, m.Value)
		}
		value = m.Value
	}
	s.Extras = rest
	return value, nil
}

// strictPriority returns agent_hints.strict_priority of the extension member nvext; nil = none.
func strictPriority(nvext []byte) (priority []byte) {
	s := jsontext.Scanner{Doc: nvext}
	members(&s, func(key string) {
		if key != "agent_hints" {
			s.Skip()
			return
		}
		members(&s, func(key string) {
			if key == "strict_priority" {
				priority = jsontext.AppendCompact(nil, &s)
			} else {
				s.Skip()
			}
		})
	})
	if string(priority) == "null" {
		return nil
	}
	return priority
}

// Encode implements Codec.
func (c *tokenCodec) Encode(t *conversation.Turn, h *History) (Request, error) {
	if t.RawPayload != nil {
		return Request{Body: record.Plain(t.RawPayload)}, nil
	}
	if h.System != "" || h.UserContext != "" {
		return Request{}, invalid(t, "endpoint type %s takes token ids, so a system message or a user context cannot be sent", c.kind.name)
	}
	x := tokenBody{priority: c.priority, id: h.RequestID}
	var err error
	if x.ids, err = c.history(t, h); err != nil {
		return Request{}, err
	}
	var own object
	if t.ExtraBody != nil {
		s := jsontext.Scanner{Doc: t.ExtraBody}
		if own.merge(&s); !s.Done() {
			return Request{}, invalid(t, "extra body: %.80q is not a JSON object", t.ExtraBody)
		}
	}
	if c.kind.ignoreEOS {
		x.sampling.setBool("ignore_eos", true)
	}
	x.sampling.overlay(&c.sampling)
	if t.MaxTokens != nil {
		x.sampling.setInt(c.kind.lengthKey, *t.MaxTokens)
	}
	if v := own.take("sampling_params"); v != nil {
		s := jsontext.Scanner{Doc: v}
		if x.sampling.merge(&s); !s.Done() {
			return Request{}, invalid(t, "extra body: sampling_params: must be a JSON object, got %.80s", v)
		}
	}
	if p := strictPriority(own.take("nvext")); p != nil {
		x.priority = p
	}
	b := bodies.Get().(*body)
	defer bodies.Put(b)
	b.reset()
	b.set = &c.set
	c.kind.frame(b, t, &x)
	b.overlay(&c.extras)
	b.overlay(&own)
	return Request{Body: b.ranges(), SentOnce: true}, nil
}

// take removes a member from the object and returns its value; nil = none.
func (o *object) take(key string) (value []byte) {
	if i := o.find(key); i >= 0 {
		value = o.value(i)
		o.members = slices.Delete(o.members, i, i+1)
	}
	return value
}

// history returns the ids of the session before a turn.
func (c *tokenCodec) history(t *conversation.Turn, h *History) (ids []int32, err error) {
	for _, p := range h.Past {
		if ids, err = c.append(ids, p.Turn); err != nil {
			return nil, err
		}
		if answer, ok := p.Reply.([]int32); ok {
			ids = append(ids, answer...)
		}
	}
	if ids, err = c.append(ids, t); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, invalid(t, "endpoint type %s needs token ids or a text, and the turn has neither", c.kind.name)
	}
	return ids, nil
}

// append appends the ids of a turn.
func (c *tokenCodec) append(ids []int32, t *conversation.Turn) ([]int32, error) {
	if t.TokenIDs != nil {
		return append(ids, t.TokenIDs...), nil
	}
	if c.set.Tokens == nil {
		return nil, invalid(t, "endpoint type %s needs a tokenizer, or token ids in the data", c.kind.name)
	}
	for _, text := range t.Contents() {
		var err error
		if ids, err = c.set.Tokens(ids, c.set.model(t), text); err != nil {
			return nil, invalid(t, "%v", err)
		}
	}
	return ids, nil
}

// setIDs sets a list of token ids as the value of a member.
func (o *object) setIDs(key string, ids []int32) {
	a := len(o.buf)
	o.buf = jsontext.AppendInts(o.buf, ids)
	o.end(key, a)
}

// idsInput reads the ids of a prompt, under the names of both types.
func idsInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "input_ids" && string(key) != "token_ids" {
		return false
	}
	x.prompt(s)
	return true
}

// tokenDoc holds the token ids of an answer.
type tokenDoc struct {
	ids      []int32 // ids of the document
	reported int     // completion_tokens of the document; -1 = not given
	all      []int32 // ids of the answer so far
	total    int     // number of tokens of the answer so far
}

func beginTokens(d *jsonAnswer) {
	k := stateOf[tokenDoc](d)
	k.ids, k.reported = k.ids[:0], -1
}

// readIDs reads a list of token ids and skips invalid ones.
func (k *tokenDoc) readIDs(s *jsontext.Scanner) {
	elements(s, func() {
		if f, ok := number(s); ok && f >= 0 && f < 1<<31 && f == float64(int32(f)) {
			k.ids = append(k.ids, int32(f))
		}
	})
}

// afterTokens converts the document's new ids to content. Servers send either only the new ids or all of them again; the count in the document
// distinguishes the two. A count without ids stands for that number of tokens.
func afterTokens(d *jsonAnswer) {
	k := d.state.(*tokenDoc)
	fresh := k.ids
	if n := len(k.all); n > 0 && k.reported >= 0 && len(fresh) == k.reported && k.total == n && len(fresh) >= n && slices.Equal(fresh[:n], k.all) {
		fresh = fresh[n:]
	}
	k.all = append(k.all, fresh...)
	grown := len(fresh)
	if len(k.ids) == 0 && k.reported > k.total {
		grown = k.reported - k.total
	}
	k.total += grown
	if grown > 0 {
		d.chunk.kind, d.chunk.items = record.Text, grown
		d.tokens += grown
	}
}

// tokenMemory stores the ids of an answer.
type tokenMemory struct{}

func (tokenMemory) take(*jsonAnswer) {}

func (tokenMemory) memory(d *jsonAnswer) Memory {
	if k, ok := d.state.(*tokenDoc); ok && d.failed == nil && len(k.all) > 0 {
		return k.all
	}
	return nil
}
