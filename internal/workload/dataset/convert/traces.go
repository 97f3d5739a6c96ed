package convert

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/trace"
	"aiperf/internal/workload/dataset/weka"
)

// lengths returns an error if a row is not just a time and two lengths.
func lengths(e custom.Entry, format string) error {
	r := e.Record
	switch {
	case r == nil || r.InputLength < 1 || r.OutputLength == nil || r.Timestamp == nil:
		return fmt.Errorf("a row of %s needs a time and the lengths of prompt and answer; convert does not count the tokens of texts", format)
	case r.Delay != nil || r.Extra != nil:
		return fmt.Errorf("%s cannot hold delay or extra", format)
	}
	return nil
}

// appendBurst writes lengths as a table row.
func appendBurst(dst []byte, e custom.Entry) ([]byte, error) {
	if err := lengths(e, "burst_gpt_trace"); err != nil {
		return nil, err
	}
	if e.Session != "" || len(e.Record.HashIDs) > 0 {
		return nil, errors.New("burst_gpt_trace can hold neither sessions nor shared prefixes; convert to mooncake_trace or bailian_trace instead")
	}
	dst = trace.AppendNumber(dst, *e.Record.Timestamp/1000)
	return fmt.Appendf(dst, ",%d,%d\n", e.Record.InputLength, *e.Record.OutputLength), nil
}

// chat is a request of a session: its number in the file and its turn.
type chat struct{ id, turn int }

// chats writes sessions as chats, each with the id of the previous one.
type chats struct {
	rows int
	last map[string]chat
}

func (c *chats) append(dst []byte, e custom.Entry) ([]byte, error) {
	if err := lengths(e, "bailian_trace"); err != nil {
		return nil, err
	}
	r := e.Record
	c.rows++
	this, parent := chat{c.rows, 1}, -1
	if e.Session != "" {
		if before, known := c.last[e.Session]; known {
			this.turn, parent = before.turn+1, before.id
		}
		c.last[e.Session] = this
	}
	o := jsontext.Open(dst)
	o.Int("chat_id", int64(this.id))
	o.Int("parent_chat_id", int64(parent))
	o.Key("timestamp")
	o.B = trace.AppendNumber(o.B, *r.Timestamp/1000)
	o.Int("input_length", int64(r.InputLength))
	o.Int("output_length", int64(*r.OutputLength))
	o.Int("turn", int64(this.turn))
	if r.HashIDs != nil {
		o.Key("hash_ids")
		o.B = jsontext.AppendInts(o.B, r.HashIDs)
	}
	return append(o.Close(), '\n'), nil
}

// appendCapture writes messages as a captured request. It writes the timestamp as a time since 1970.
func appendCapture(dst []byte, e custom.Entry) ([]byte, error) {
	r := e.Record
	switch {
	case r == nil || r.Messages == nil || r.Timestamp == nil:
		return nil, errors.New("a row of sagemaker_data_capture needs messages and a time")
	case r.Delta || e.Session != "" || r.Delay != nil || r.Mode != "":
		return nil, errors.New("requests of sagemaker_data_capture are independent, so they cannot have sessions, delays or context_mode")
	}
	body := jsontext.Open(nil)
	body.Key("messages")
	body.B = append(body.B, '[')
	for i, m := range r.Messages {
		if i > 0 {
			body.B = append(body.B, ',')
		}
		body.B = append(body.B, m...)
	}
	body.B = append(body.B, ']')
	if r.Tools != nil {
		body.Raw("tools", r.Tools)
	}
	if r.OutputLength != nil {
		body.Int("max_tokens", int64(*r.OutputLength))
	}
	text := body.Close()
	if r.Extra != nil { // its keys are members of the body
		text = append(append(text[:len(text)-1], ','), r.Extra[1:]...)
	}
	input := jsontext.Open(nil)
	input.Text("data", string(text))
	input.Text("encoding", "JSON")
	captured := jsontext.Open(nil)
	captured.Raw("endpointInput", input.Close())
	about := jsontext.Open(nil)
	about.Text("eventId", "row-"+e.Where[strings.LastIndexByte(e.Where, ':')+1:])
	about.Text("inferenceTime", time.Unix(0, int64(math.Round(*r.Timestamp*1e6))).UTC().Format(time.RFC3339Nano))
	o := jsontext.Open(dst)
	o.Raw("captureData", captured.Close())
	o.Raw("eventMetadata", about.Close())
	return append(o.Close(), '\n'), nil
}

// appendAgents writes a whole trace when its first request comes.
func appendAgents(dst []byte, e custom.Entry) ([]byte, error) {
	switch {
	case e.Agents == nil:
		return nil, errors.New("weka_trace needs the agents, who started whom, and the service and think times of every request; only tracelab files can be converted to it")
	case e.First:
		return append(e.Agents.Append(dst), '\n'), nil
	}
	return dst, nil
}

// appendRounds writes a whole trace as rounds when its first request comes.
func appendRounds(w *weka.RoundWriter) func(dst []byte, e custom.Entry) ([]byte, error) {
	return func(dst []byte, e custom.Entry) ([]byte, error) {
		switch {
		case e.Agents == nil:
			return nil, errors.New("tracelab needs the agents, who started whom, and the times of every request and answer; only weka_trace files can be converted to it")
		case e.First:
			return w.Append(dst, e.Agents)
		}
		return dst, nil
	}
}
