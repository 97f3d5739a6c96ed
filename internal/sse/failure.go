package sse

import (
	"bytes"
	"strings"

	"github.com/valyala/fastjson"
)

// Failure is an error that a server reported inside a stream.
type Failure struct {
	Code    int    // 400..599, 502 where the server named none
	Message string // the server's words, or a text that quotes the message
}

// defaultCode is the code of failures for which the server gave no HTTP status.
const defaultCode = 502

var parsers fastjson.ParserPool

// FindFailure looks for an error in a message: an error event, or data whose top level says that it is one. single tells that the
// message has one line (Span.Lines == 1), which keeps the look at ordinary messages cheap.
func FindFailure(raw []byte, single bool) (Failure, bool) {
	if !suspicious(raw, single) {
		return Failure{}, false
	}
	var e Event
	e.Parse(raw)
	data := e.Data()
	f, found := dataFailure(data)
	if fold(e.Name(), "error") {
		return eventFailure(&e, f, data), true
	}
	return f, found
}

// suspicious is the cheap test: only what it lets through is parsed. The needles begin with bytes that are rare in answers, which makes the
// search six times as fast as one for the whole words.
func suspicious(raw []byte, single bool) bool {
	if single && len(raw) > 0 && raw[0] == 'd' {
		return bytes.Contains(raw, []byte(`rror"`)) && bytes.Contains(raw, []byte(`"error"`)) || bytes.Contains(raw, []byte(`.failed"`))
	}
	return namesError(raw) || bytes.Contains(raw, []byte(`.failed`))
}

// namesError tells whether the word error occurs, in any case. One of the two letters in its middle stands at an even place.
func namesError(b []byte) bool {
	const word = "error"
	for i := 2; i < len(b); i += 2 {
		if b[i]|0x20 != 'r' {
			continue
		}
		for _, from := range [2]int{i - 1, i - 2} {
			if to := from + len(word); to <= len(b) && strings.EqualFold(string(b[from:to]), word) {
				return true
			}
		}
	}
	return false
}

// eventFailure words an error event: its comment, else the structured error of its data, else a quotation.
func eventFailure(e *Event, f Failure, data []byte) Failure {
	if f.Code == 0 {
		f.Code = defaultCode
	}
	if c := e.Comment(); c != nil {
		f.Message = string(c)
	}
	if f.Message == "" {
		f.Message = "Unknown error in SSE response: event: error"
		if len(data) > 0 {
			f.Message = "Unknown error in SSE response: " + string(data)
		}
	}
	return f
}

// dataFailure reads the structured error of a message's data. found is false where the data alone does not say that it is an error;
// f then holds what it would tell as the data of an error event.
func dataFailure(data []byte) (f Failure, found bool) {
	if len(data) == 0 || data[0] != '{' {
		return f, false
	}
	p := parsers.Get()
	defer parsers.Put(p)
	v, err := p.ParseBytes(data)
	if err != nil {
		return f, false
	}
	at := v.Get("error")
	switch kind := string(v.GetStringBytes("type")); {
	case truthy(at):
	case kind == "response.failed" && truthy(v.Get("response", "error")):
		at = v.Get("response", "error")
	case kind == "error", kind == "response.failed", string(v.GetStringBytes("object")) == "error":
		at = v
	case v.Exists("message"):
		return describe(v), false
	default:
		return f, false
	}
	return describe(at), true
}

// describe takes code and message out of an error value.
func describe(v *fastjson.Value) Failure {
	f := Failure{Code: defaultCode}
	switch v.Type() {
	case fastjson.TypeString:
		f.Message = string(v.GetStringBytes())
	case fastjson.TypeObject:
		if c := v.Get("code"); c != nil && c.Type() == fastjson.TypeNumber {
			if n, err := c.Int(); err == nil && n >= 400 && n <= 599 {
				f.Code = n
			}
		}
		f.Message = string(v.GetStringBytes("message"))
	}
	if f.Message == "" {
		f.Message = string(v.MarshalTo(nil))
	}
	return f
}

// truthy tells whether an error value says that there is an error: null, false, 0 and empty values say that there is none.
func truthy(v *fastjson.Value) bool {
	if v == nil {
		return false
	}
	switch v.Type() {
	case fastjson.TypeNull, fastjson.TypeFalse:
		return false
	case fastjson.TypeString:
		return len(v.GetStringBytes()) > 0
	case fastjson.TypeNumber:
		return v.GetFloat64() != 0
	case fastjson.TypeArray:
		return len(v.GetArray()) > 0
	case fastjson.TypeObject:
		return v.GetObject().Len() > 0
	}
	return true
}
