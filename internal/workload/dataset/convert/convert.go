package convert

import (
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/trace"
	"aiperf/internal/workload/dataset/weka"
)

// Target writes rows in a format.
type Target struct {
	Head    string // header of the file
	row     func(dst []byte, e custom.Entry) ([]byte, error)
	end     func() ([]byte, error) // returns what follows the rows; nil = nothing
	history *history               // history that a request of the format carries; nil = the rows state it, or there are no sessions
	Block   int                    // tokens per hash id that was written; 0 = the default of the format
	own     int                    // default of the format
	Free    bool                   // set by End: the rows ask for no minimum length, but a replay does by default
}

// End returns what follows the rows.
func (t *Target) End() ([]byte, error) {
	if t.end == nil {
		return nil, nil
	}
	return t.end()
}

// foot returns a function that ends a file with a fixed text.
func foot(text string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(text), nil }
}

// Append appends a row in the format. If the format cannot hold something, it returns an error with the position of the row.
func (t *Target) Append(dst []byte, e custom.Entry) ([]byte, error) {
	out, err := dst, t.history.checkHistory(e)
	if err == nil {
		out, err = t.row(dst, e)
	}
	if placed := (*weka.UnfitTrace)(nil); errors.As(err, &placed) { // the error has its own position
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

// NewTarget returns a writer for a format. count counts the tokens of a text, for formats that state them.
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

// lossless returns an error if a turn cannot be written as a turn with contents.
func lossless(t *conversation.Turn) error {
	switch {
	case t.RawPayload != nil:
		return errors.New("the row is a whole request body, which only raw_payload and mooncake_trace can hold")
	case t.RawMessages != nil:
		return errors.New("the row is a list of ready messages, which only mooncake_trace can hold")
	case t.Silent || len(t.Branches) > 0:
		return errStarts
	case t.TokenIDs != nil || t.ExtraHeaders != nil || t.Model != "":
		return errOfTurn
	}
	return nil
}

// errOfTurn reports a turn with more than a text.
var errOfTurn = errors.New("the turn has its own token ids, headers or model, which this format cannot hold")

// errStarts reports a graph that only dag_jsonl can hold.
var errStarts = errors.New("the turn starts other sessions or waits for them, which only dag_jsonl can hold")

// turnsOf returns the turns of a traffic row.
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
		return nil, errors.New("the row has lengths but no text, which only mooncake_trace, bailian_trace and burst_gpt_trace can hold")
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

// appendParts appends the contents of one kind: as plain texts, or with the names of their lists.
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

// contentOf returns the content of a part in the form of an input file: text, a URL, or base64.
func contentOf(p *conversation.Part) (string, error) {
	switch {
	case p.Kind == conversation.Text:
		return p.Text, nil
	case p.Blob == nil || p.ID != "":
		return "", errors.New("images with ids cannot be converted: image_uuids need a plain list of images")
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

// appendSingle writes every turn as a row. It rejects turns that depend on each other, because single_turn rows cannot express that.
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

// appendMulti writes a row as a conversation. Rows of one session continue each other.
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

// appendMooncake writes records unchanged, and a turn with one text as a row.
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
		case t.RawMessages != nil: // each turn has only the new messages
			rec.Messages, rec.Tools, rec.Delta = t.RawMessages, t.RawTools, true
		case len(t.Parts) != 1 || len(texts) != 1 || t.Role != "" && t.Role != "user":
			return nil, errors.New("a row of mooncake_trace can hold one text of the user only, no media, list or other role")
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

// appendRow appends a row of a session. It states the history of the request, unless this is the default for that kind of row.
func appendRow(dst []byte, rec trace.Record, session string, mode conversation.Mode) []byte {
	if usual := (trace.Session{Records: []trace.Record{rec}}).Mode(); session != "" && mode != usual && (usual != "" || mode != conversation.DeltasWithoutResponses) {
		rec.Mode = mode
	}
	return append(trace.AppendRow(dst, &rec, session), '\n')
}

// appendPayload writes whole request bodies.
func appendPayload(dst []byte, e custom.Entry) ([]byte, error) {
	body := []byte(nil)
	if e.Record != nil {
		body = e.Record.Payload
	} else if len(e.Turns) == 1 {
		body = e.Turns[0].RawPayload
	}
	if body == nil {
		return nil, errors.New("raw_payload can hold only whole request bodies, and this row is not one")
	}
	if e.Record == nil && e.Session != "" {
		return nil, errors.New("raw_payload has no session ids; convert to inputs_json instead")
	}
	if r := e.Record; r != nil && (r.Timestamp != nil || r.Delay != nil || e.Session != "") {
		return nil, errors.New("raw_payload can hold neither times nor sessions of several rows")
	}
	return append(append(dst, body...), '\n'), nil
}
