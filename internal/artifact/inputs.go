package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"

	"aiperf/internal/jsontext"
	"aiperf/internal/redact"
)

// Inputs writes inputs.json conversation by conversation, so that no more than one is held.
type Inputs struct {
	*stream
	n    int
	hide *redact.Secrets
}

// CreateInputs begins the file, for its owner alone; hide are the secrets that no body may show.
func CreateInputs(path string, hide *redact.Secrets) (*Inputs, error) {
	s, err := create(path, true)
	if err != nil {
		return nil, err
	}
	w := &Inputs{stream: s, hide: hide}
	return w, w.stream.Write([]byte("{\n  \"data\": ["))
}

// Add appends a conversation: the request body of every turn as it would be sent first, in JSON.
func (w *Inputs) Add(session string, payloads [][]byte) error {
	o := jsontext.Open(nil)
	o.Text("session_id", session)
	o.Key("payloads")
	for i, p := range payloads {
		o.B = append(o.B, "[,"[min(i, 1)])
		o.B = appendPayload(o.B, p)
	}
	if len(payloads) == 0 {
		o.B = append(o.B, '[')
	}
	o.B = append(o.B, ']')
	var buf bytes.Buffer
	if w.n > 0 {
		buf.WriteByte(',')
	}
	w.n++
	buf.WriteString("\n    ")
	if err := json.Indent(&buf, w.hide.JSON(o.Close()), "    ", "  "); err != nil {
		return fmt.Errorf("inputs.json: conversation %s: %w", session, err)
	}
	return w.stream.Write(buf.Bytes())
}

// Close completes the file.
func (w *Inputs) Close() error {
	end := "\n  ]\n}"
	if w.n == 0 {
		end = "]\n}"
	}
	err := w.stream.Write([]byte(end))
	if e := w.stream.Close(); err == nil {
		err = e
	}
	return err
}
