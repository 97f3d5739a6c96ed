package survey

import (
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/custom"
	"aiperf/internal/dataset/trace"
	"aiperf/internal/dataset/weka"
	"aiperf/internal/jsontext"
)

// Target writes rows of a format.
type Target struct {
	Head    string // of the file
	row     func(dst []byte, e custom.Entry) ([]byte, error)
	end     func() ([]byte, error) // what follows the rows; nil = nothing
	history *history               // how much of its session goes with a request of the format; nil = rows say it, or have no sessions
	Block   int                    // tokens behind the hash ids that were written; 0 = those that the format has unless somebody says otherwise
	own     int                    // those that the format has
	Free    bool                   // told with the end: its rows ask for no least length, which the replay does unless it is told not to
}

// End is what follows the rows.
func (t *Target) End() ([]byte, error) {
	if t.end == nil {
		return nil, nil
	}
	return t.end()
}

// foot ends a file with a text.
func foot(text string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(text), nil }
}

// Append appends what a row is in the format. What the format cannot say is an error with the row's place.
func (t *Target) Append(dst []byte, e custom.Entry) ([]byte, error) {
	out, err := dst, t.history.suits(e)
	if err == nil {
		out, err = t.row(dst, e)
	}
	if placed := (*weka.Unfit)(nil); errors.As(err, &placed) { // it tells its own place
		return dst, err
	}
	if err != nil {
		return dst, fmt.Errorf("%s: %w", e.Where, err)
	}
	if e.Record != nil && len(e.Record.HashIDs) > 0 && t.own > 0 {
		block := e.Block
		if block == 0 {
			block = custom.MooncakeBlock
		}
		if block != t.own {
			t.Block = block
		}
	}
	return out, nil
}

// Targets lists the formats that can be written.
const Targets = "single_turn, multi_turn, random_pool, mooncake_trace, bailian_trace, burst_gpt_trace, raw_payload, inputs_json, sagemaker_data_capture, dag_jsonl, speed_bench, weka_trace, tracelab, baseten_trace"

// NewTarget returns what writes a format. count counts the tokens of a text, for a format that states them.
func NewTarget(format string, count func(string) int) (*Target, error) {
	if t := newTarget(format, count); t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%q: must be one of %s", format, Targets)
}

func newTarget(format string, count func(string) int) *Target {
	switch format {
	case "single_turn":
		return &Target{row: appendSingle, history: &history{format: format, mode: conversation.MessageArrayWithResponses}}
	case "multi_turn":
		return &Target{row: appendMulti, history: &history{format: format, mode: conversation.DeltasWithoutResponses}}
	case "random_pool":
		return &Target{row: appendPooled}
	case trace.MooncakeType:
		return &Target{row: appendMooncake, own: custom.MooncakeBlock}
	case "bailian_trace":
		return &Target{row: (&chats{last: map[string]chat{}}).append, own: custom.BailianBlock, history: &history{format: format, mode: conversation.MessageArrayWithResponses}}
	case "burst_gpt_trace":
		return &Target{Head: "Timestamp,Request tokens,Response tokens\n", row: appendBurst}
	case "raw_payload":
		return &Target{row: appendPayload}
	case "inputs_json":
		return &Target{Head: `{"data":[`, end: foot("]}\n"), row: (&bodies{}).append}
	case "sagemaker_data_capture":
		return &Target{row: appendCapture}
	case "dag_jsonl":
		return &Target{row: (&graphs{}).append}
	case "weka_trace":
		return &Target{row: appendAgents}
	case "tracelab":
		return &Target{row: appendRounds(weka.NewRoundWriter()), own: custom.TraceLabBlock}
	case "baseten_trace":
		return newCompletions(format, count)
	case "speed_bench":
		return &Target{row: (&questions{}).append, history: &history{format: format, mode: conversation.DeltasWithoutResponses}}
	}
	return nil
}

// lossless tells why a turn cannot be written as one of contents.
func lossless(t *conversation.Turn) error {
	switch {
	case t.RawPayload != nil:
		return errors.New("a whole request body has no turn: it can be written as raw_payload or mooncake_trace")
	case t.RawMessages != nil:
		return errors.New("ready messages have no turn: they can be written as mooncake_trace")
	case t.Silent || len(t.Branches) > 0:
		return errStarts
	case t.TokenIDs != nil || t.ExtraHeaders != nil || t.Model != "":
		return errOfTurn
	}
	return nil
}

// errOfTurn is why a turn is not converted that says more than a text.
var errOfTurn = errors.New("token ids, headers and models of a single turn are not converted")

// errStarts is why a graph stays one.
var errStarts = errors.New("a turn that starts other sessions, or waits for them, is one of dag_jsonl only")

// turnsOf makes turns of a row of traffic.
func turnsOf(e custom.Entry) ([]conversation.Turn, error) {
	r := e.Record
	if r == nil {
		return e.Turns, nil
	}
	t := conversation.Turn{Timestamp: r.Timestamp, Delay: r.Delay, MaxTokens: r.OutputLength, RawMessages: r.Messages, RawPayload: r.Payload, ExtraBody: r.Extra}
	switch {
	case r.Text != nil:
		t.Parts = conversation.Texts("", *r.Text)
	case r.Messages == nil && r.Payload == nil:
		return nil, errors.New("a row of lengths has no text: it can be written as mooncake_trace, bailian_trace or burst_gpt_trace")
	}
	return []conversation.Turn{t}, nil
}

// appendTurn appends the members of a turn.
func appendTurn(o *jsontext.Object, t *conversation.Turn) error {
	if err := lossless(t); err != nil {
		return err
	}
	if t.Role != "" {
		o.Text("role", t.Role)
	}
	for _, k := range []struct {
		kind conversation.Kind
		key  string
	}{{conversation.Text, "texts"}, {conversation.Image, "images"}, {conversation.Audio, "audios"}, {conversation.Video, "videos"}} {
		if err := appendParts(o, t, k.kind, k.key); err != nil {
			return err
		}
	}
	appendTimes(o, t)
	if t.MaxTokens != nil {
		o.Int("output_length", int64(*t.MaxTokens))
	}
	if t.ExtraBody != nil {
		o.Raw("extra", t.ExtraBody)
	}
	return nil
}

func appendTimes(o *jsontext.Object, t *conversation.Turn) {
	if t.Timestamp != nil {
		o.Key("timestamp")
		o.B = trace.AppendNumber(o.B, *t.Timestamp)
	}
	if t.Delay != nil {
		o.Key("delay")
		o.B = trace.AppendNumber(o.B, *t.Delay)
	}
}

// appendParts appends the contents of a kind: as plain texts, or with the names of their lists.
func appendParts(o *jsontext.Object, t *conversation.Turn, kind conversation.Kind, key string) error {
	var list []byte
	for i := range t.Parts {
		p := &t.Parts[i]
		if p.Kind != kind {
			continue
		}
		text, err := contentOf(p)
		if err != nil {
			return err
		}
		if list = append(list, ','); p.Name == "" {
			list = jsontext.AppendString(list, text)
			continue
		}
		named := jsontext.Open(list)
		named.Text("name", p.Name)
		named.Raw("contents", append(jsontext.AppendString([]byte("["), text), ']'))
		list = named.Close()
	}
	if list != nil {
		list[0] = '['
		o.Raw(key, append(list, ']'))
	}
	return nil
}

// contentOf is a part as an author writes it: text, an address, or the content in base64.
func contentOf(p *conversation.Part) (string, error) {
	switch {
	case p.Kind == conversation.Text:
		return p.Text, nil
	case p.Blob == nil || p.ID != "":
		return "", errors.New("images with ids are not converted: image_uuids stand beside plain lists only")
	case p.Blob.Address() != "":
		return p.Blob.Address(), nil
	}
	content, err := p.Blob.Base64()
	if err != nil {
		return "", err
	}
	if p.Kind == conversation.Audio {
		return strings.TrimPrefix(p.Blob.MediaType(), "audio/") + "," + string(content), nil
	}
	return "data:" + p.Blob.MediaType() + ";base64," + string(content), nil
}

// appendSingle writes every turn as a row. Turns that build on one another cannot be told apart so.
func appendSingle(dst []byte, e custom.Entry) ([]byte, error) {
	turns, err := turnsOf(e)
	if err != nil {
		return nil, err
	}
	for i := range turns {
		o := jsontext.Open(dst)
		o.TextIfAny("session_id", e.Session)
		if err := appendTurn(&o, &turns[i]); err != nil {
			return nil, err
		}
		dst = append(o.Close(), '\n')
	}
	return dst, nil
}

// appendMulti writes a row as a conversation; rows of one session continue each other.
func appendMulti(dst []byte, e custom.Entry) ([]byte, error) {
	turns, err := turnsOf(e)
	if err != nil {
		return nil, err
	}
	if e.Category != "" && leads(turns) {
		return nil, errLeading
	}
	o := jsontext.Open(dst)
	o.TextIfAny("session_id", e.Session)
	o.Key("turns")
	o.B = append(o.B, '[')
	for i := range turns {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		inner := jsontext.Open(o.B)
		if err := appendTurn(&inner, &turns[i]); err != nil {
			return nil, err
		}
		o.B = inner.Close()
	}
	o.B = append(o.B, ']')
	return append(o.Close(), '\n'), nil
}

// appendMooncake writes records as they are, and a turn of one text as a row of it.
func appendMooncake(dst []byte, e custom.Entry) ([]byte, error) {
	if e.Record != nil {
		return appendRow(dst, *e.Record, e.Session, e.Mode), nil
	}
	for i := range e.Turns {
		t := &e.Turns[i]
		rec := trace.Record{Timestamp: t.Timestamp, Delay: t.Delay, OutputLength: t.MaxTokens, Payload: t.RawPayload, Extra: t.ExtraBody}
		switch texts := t.Contents(); {
		case t.RawPayload != nil:
		case t.Silent || len(t.Branches) > 0:
			return nil, errStarts
		case t.TokenIDs != nil || t.ExtraHeaders != nil || t.Model != "":
			return nil, errOfTurn
		case t.RawMessages != nil: // each turn says what is new
			rec.Messages, rec.Tools, rec.Delta = t.RawMessages, t.RawTools, true
		case len(t.Parts) != 1 || len(texts) != 1 || t.Role != "" && t.Role != "user":
			return nil, errors.New("a row of mooncake_trace holds one text of the user: no media, no lists, no other role")
		default:
			rec.Text = &texts[0]
		}
		session := e.Session
		if session == "" && len(e.Turns) > 1 {
			session = "row:" + e.Where[strings.LastIndexByte(e.Where, ':')+1:]
		}
		dst = appendRow(dst, rec, session, e.Mode)
	}
	return dst, nil
}

// appendRow appends a row of a session, which says how much of it goes with a request where that is not what its kind of row means.
func appendRow(dst []byte, rec trace.Record, session string, mode conversation.Mode) []byte {
	if usual := (trace.Session{Records: []trace.Record{rec}}).Mode(); session != "" && mode != usual && (usual != "" || mode != conversation.DeltasWithoutResponses) {
		rec.Mode = mode
	}
	return append(trace.AppendRow(dst, &rec, session), '\n')
}

// appendPayload writes whole bodies.
func appendPayload(dst []byte, e custom.Entry) ([]byte, error) {
	body := []byte(nil)
	if e.Record != nil {
		body = e.Record.Payload
	} else if len(e.Turns) == 1 {
		body = e.Turns[0].RawPayload
	}
	if body == nil {
		return nil, errors.New("only whole request bodies can be written as raw_payload: the words around a text are the endpoint's")
	}
	if e.Record == nil && e.Session != "" {
		return nil, errors.New("raw_payload has no session ids: write inputs_json")
	}
	if r := e.Record; r != nil && (r.Timestamp != nil || r.Delay != nil || e.Session != "") {
		return nil, errors.New("raw_payload has neither times nor sessions of several rows")
	}
	return append(append(dst, body...), '\n'), nil
}
