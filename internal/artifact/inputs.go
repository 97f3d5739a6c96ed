package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"aiperf/internal/jsontext"
	"aiperf/internal/redact"
)

// Inputs writes inputs.json conversation by conversation, so that no more than one is held.
type Inputs struct {
	*stream
	n           int
	hide        *redact.Secrets
	path, draft string
}

// inputsDraft is the end of the name of the file while it is written. A run that is killed leaves it; the next run writes over it.
const inputsDraft = ".part"

// CreateInputs begins the file, for its owner alone; hide are the secrets that no body may show. The file has its name once it is whole. Until then
// an earlier one of that name is gone: it belongs to another run.
func CreateInputs(path string, hide *redact.Secrets) (*Inputs, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("inputs.json of an earlier run: %w", err)
	}
	w := &Inputs{hide: hide, path: path, draft: path + inputsDraft}
	var err error
	if w.stream, err = create(w.draft, true); err != nil {
		return nil, err
	}
	return w, w.stream.Write([]byte("{\n  \"data\": ["))
}

// Drop ends the writing and leaves no file.
func (w *Inputs) Drop() error { return errors.Join(w.stream.Close(), os.Remove(w.draft)) }

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

// Close completes the file. On an error there is none.
func (w *Inputs) Close() error {
	end := "\n  ]\n}"
	if w.n == 0 {
		end = "]\n}"
	}
	err := w.stream.Write([]byte(end))
	if e := w.stream.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(w.draft, w.path)
	}
	if err != nil {
		_ = os.Remove(w.draft) // of no use
	}
	return err
}
