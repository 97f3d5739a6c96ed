package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/redact"
)

// Inputs writes inputs.json one conversation at a time, so that only one is in memory.
type Inputs struct {
	*stream
	n           int
	hide        *redact.Secrets
	path, draft string

	compact, indented []byte // buffers for one conversation
}

// inputsDraft is the suffix of the file name during the writing. A killed run leaves this file; the next run overwrites it.
const inputsDraft = ".part"

// CreateInputs creates the file, readable only by the owner. hide holds the secrets that no body may contain. The file gets its final name once it is
// complete. An older file of that name is removed at once, because it belongs to another run.
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

// Drop stops the writing and removes the file.
func (w *Inputs) Drop() error { return errors.Join(w.stream.Close(), os.Remove(w.draft)) }

// Add appends a conversation: for every turn the JSON request body as it would be sent.
func (w *Inputs) Add(session string, payloads [][]byte) error {
	o := jsontext.Open(w.compact[:0])
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
	w.compact = o.Close()
	b := w.indented[:0]
	if w.n > 0 {
		b = append(b, ',')
	}
	w.n++
	b = append(b, "\n    "...)
	w.indented = jsontext.AppendIndented(b, w.hide.JSON(w.compact), "    ")
	return w.stream.Write(w.indented)
}

// Close completes the file. After an error there is no file.
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
		_ = os.Remove(w.draft) // the incomplete file is useless
	}
	return err
}
