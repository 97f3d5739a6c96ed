package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"

	"aiperf/internal/base/jsontext"
)

// FormJSON converts a sent form (multipart/form-data) to a JSON object: texts are strings, files are objects with content in base64, name and type.
// Of fields with the same name the last one counts. ok = false: the payload is not a form.
func FormJSON(payload []byte) (object []byte, ok bool) { return readForm(payload, true) }

// formTexts returns the texts of a form as a JSON object; files are empty objects.
func formTexts(payload []byte) []byte {
	object, _ := readForm(payload, false)
	return object
}

func readForm(payload []byte, files bool) ([]byte, bool) {
	line, _, ok := bytes.Cut(payload, []byte("\r\n"))
	boundary, marked := bytes.CutPrefix(line, []byte("--"))
	if !ok || !marked || len(boundary) == 0 || len(boundary) > 70 {
		return nil, false
	}
	var o object
	r := multipart.NewReader(bytes.NewReader(payload), string(boundary))
	for {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return o.append(nil), true
		}
		if err != nil || p.FormName() == "" {
			return nil, false
		}
		a := len(o.buf)
		if name := p.FileName(); name != "" {
			o.buf, err = appendFile(o.buf, p, name, files)
		} else {
			var text []byte
			text, err = io.ReadAll(p)
			o.buf = jsontext.AppendString(o.buf, string(text))
		}
		if err != nil {
			return nil, false
		}
		o.end(p.FormName(), a)
	}
}

// appendFile appends a file of a form as an object.
func appendFile(dst []byte, p *multipart.Part, name string, whole bool) ([]byte, error) {
	if !whole {
		return append(dst, "{}"...), nil
	}
	content, err := io.ReadAll(p)
	if err != nil {
		return dst, err
	}
	object, err := json.Marshal(struct {
		Data []byte `json:"b64_data"`
		Name string `json:"filename"`
		Type string `json:"content_type"`
	}{content, name, p.Header.Get("Content-Type")})
	return append(dst, object...), err
}
