package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// formType is an endpoint type whose requests are forms (multipart/form-data, RFC 7578) and whose answers are JSON documents or texts.
type formType struct {
	fields    func(f *form, t *conversation.Turn, h *History) error
	input     func(x *inputTexts, s *jsontext.Scanner, key []byte) bool // reads a field of a form like a member of an object
	newAnswer func(c *formCodec, remember bool) Answer
	reserved  []string // fields that extras must not replace
}

// formCodec is the codec of a formType in a run. With asJSON, bodies hold the same fields as a JSON object.
type formCodec struct {
	*formType
	set    Settings
	extras object
	asJSON bool
}

// open makes the codec of a run. It refuses extras that are not valid JSON.
func (t *formType) open(s Settings) (Codec, error) {
	c := &formCodec{formType: t, set: s, asJSON: s.ContentType == jsonContent}
	for _, m := range s.Extras {
		if !c.extras.setRaw(m.Key, m.Value) {
			return nil, fmt.Errorf("%s %s: %q is not JSON", s.Spell.As("endpoint.extra"), m.Key, m.Value)
		}
	}
	return c, nil
}

const jsonContent = "application/json"

// NewAnswer implements Codec.
func (c *formCodec) NewAnswer(remember bool) Answer { return c.formType.newAnswer(c, remember) }

// Input implements Codec. It reads forms as they are sent and as exports show them.
func (c *formCodec) Input(payload []byte) Input {
	if !bytes.HasPrefix(payload, []byte("--")) {
		return readInput(c.input, payload)
	}
	return readInput(c.input, formTexts(payload))
}

// Encode implements Codec.
func (c *formCodec) Encode(t *conversation.Turn, h *History) (Request, error) {
	if t.RawPayload != nil {
		return Request{Body: record.Plain(t.RawPayload)}, nil
	}
	f := form{set: &c.set}
	if err := c.fields(&f, t, h); err != nil {
		return Request{}, err
	}
	for i := range c.extras.members {
		c.add(&f, c.extras.members[i].key, c.extras.value(i))
	}
	if t.ExtraBody != nil {
		var more object
		s := jsontext.Scanner{Doc: t.ExtraBody}
		more.merge(&s)
		if !s.Done() {
			return Request{}, invalid(t, "extra body: %.80q is not a JSON object", t.ExtraBody)
		}
		for i := range more.members {
			c.add(&f, more.members[i].key, more.value(i))
		}
	}
	if c.asJSON {
		return Request{Body: f.object().ranges()}, nil
	}
	body, contentType, err := f.multipart()
	if err != nil {
		return Request{}, invalid(t, "%v", err)
	}
	return Request{Body: body, ContentType: contentType, Listing: func() []byte { return f.object().ranges().Bytes() }}, nil
}

// add replaces a field by an extra, unless the field is reserved.
func (c *formCodec) add(f *form, name string, value []byte) {
	if !slices.Contains(c.reserved, name) {
		f.put(name, value)
	}
}

// form is a form under construction.
type form struct {
	set  *Settings
	list []formField
}

// formField is one field: a value in JSON, or a file.
type formField struct {
	name  string
	value []byte
	file  *formFile
}

type formFile struct {
	name, media   string
	bytes, base64 []byte // content, shared with other requests
}

// put replaces the value of the field with that name, or appends a new field.
func (f *form) put(name string, value []byte) {
	i := slices.IndexFunc(f.list, func(o formField) bool { return o.name == name })
	if i < 0 {
		i = len(f.list)
		f.list = append(f.list, formField{name: name})
	}
	f.list[i].value = value
}

func (f *form) text(name, value string) { f.put(name, jsontext.AppendString(nil, value)) }

// media appends a file field with the content of a blob.
func (f *form) media(t *conversation.Turn, name, filename, media string, b *conversation.Blob) error {
	content, err := b.Bytes()
	if err != nil {
		return invalid(t, "%s: %v", name, err)
	}
	encoded, err := b.Base64()
	if err != nil {
		return invalid(t, "%s: %v", name, err)
	}
	f.list = append(f.list, formField{name: name, file: &formFile{filename, media, content, encoded}})
	return nil
}

// object returns the form as JSON, in the format of inputs.json and the raw export. A file is an object with its content in base64, its name and its
// type.
func (f *form) object() *object {
	o := new(object)
	for _, field := range f.list {
		a := len(o.buf)
		if file := field.file; file != nil {
			o.buf = append(o.buf, `{"b64_data":"`...)
			o.share(file.base64)
			o.buf = append(o.buf, `","filename":`...)
			o.buf = append(jsontext.AppendString(o.buf, file.name), `,"content_type":`...)
			o.buf = append(jsontext.AppendString(o.buf, file.media), '}')
		} else {
			o.buf = append(o.buf, field.value...)
		}
		o.end(field.name, a)
	}
	return o
}

// multipart encodes the form. The bytes of files are shared, not copied.
func (f *form) multipart() (record.Body, string, error) {
	var buf bytes.Buffer
	var cuts []sharedBytes
	w := multipart.NewWriter(&buf)
	part := func(name, filename, media string) error {
		disposition := `form-data; name="` + quoted.Replace(name) + `"`
		if filename != "" {
			disposition += `; filename="` + quoted.Replace(filename) + `"`
		}
		_, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {disposition}, "Content-Type": {media}})
		return err
	}
	for _, field := range f.list {
		if file := field.file; file != nil {
			if err := part(field.name, file.name, file.media); err != nil {
				return record.Body{}, "", err
			}
			cuts = append(cuts, sharedBytes{buf.Len(), file.bytes})
			continue
		}
		for _, text := range fieldTexts(field.value) {
			if err := part(field.name, "", "text/plain; charset=utf-8"); err != nil {
				return record.Body{}, "", err
			}
			buf.WriteString(text)
		}
	}
	if err := w.Close(); err != nil {
		return record.Body{}, "", err
	}
	var all [][]byte
	from := 0
	for _, c := range cuts {
		all = append(all, buf.Bytes()[from:c.at:c.at], c.bytes)
		from = c.at
	}
	return record.Plain(append(all, buf.Bytes()[from:])...), w.FormDataContentType(), nil
}

// quoted escapes a name inside its quotes and its line (RFC 7578, section 2, and the percent-encoding of HTML).
var quoted = strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")

// fieldTexts returns the texts of a value: one for each element of a list, otherwise one. The text of a string is its content; the text of any other
// value is its JSON.
func fieldTexts(value []byte) []string {
	if value[0] != '[' {
		return []string{fieldText(value)}
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return []string{string(value)}
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fieldText(item)
	}
	return texts
}

func fieldText(value []byte) string {
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
