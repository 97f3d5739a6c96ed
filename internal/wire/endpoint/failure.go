package endpoint

import (
	"strings"

	"github.com/valyala/fastjson"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// failure is an error that a server reported inside a stream.
type failure struct {
	code    int    // 400..599, 502 where the server named none
	message string // the server's text, or a text that quotes the message
}

// defaultCode is the code of failures for which the server gave no HTTP status.
const defaultCode = 502

var parsers fastjson.ParserPool

// streamFailure returns the error that a message reports: an error event, or data whose top level reports an error. The MayFail of the format must
// accept every message in which it finds an error.
func streamFailure(f framing.Format, e *framing.Event) *record.Error {
	data := e.Data()
	told, found := dataFailure(data)
	if strings.EqualFold(string(e.Name()), "error") {
		told, found = eventFailure(e, told, data), true
	}
	if !found {
		return nil
	}
	return &record.Error{Code: told.code, Type: f.Failure(), Message: told.message}
}

// eventFailure returns the failure of an error event. Its text is the comment, otherwise the structured error of the data, otherwise a quotation.
func eventFailure(e *framing.Event, f failure, data []byte) failure {
	if f.code == 0 {
		f.code = defaultCode
	}
	if c := e.Comment(); c != nil {
		f.message = string(c)
	}
	if f.message == "" {
		f.message = "Unknown error in SSE response: event: error"
		if len(data) > 0 {
			f.message = "Unknown error in SSE response: " + string(data)
		}
	}
	return f
}

// dataFailure reads the structured error of a message's data. found is false if the data alone do not report an error; f is then the failure to use
// if the event is an error event.
func dataFailure(data []byte) (f failure, found bool) {
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
	case says(at):
	case kind == "response.failed" && says(v.Get("response", "error")):
		at = v.Get("response", "error")
	case kind == "error", kind == "response.failed", string(v.GetStringBytes("object")) == "error":
		at = v
	case v.Exists("message"):
		return describe(v, defaultCode), false
	default:
		return f, false
	}
	return describe(at, defaultCode), true
}

// describe reads the code and the message from an error value. code is the one to use if the value has none.
func describe(v *fastjson.Value, code int) failure {
	f := failure{code: code}
	switch v.Type() {
	case fastjson.TypeString:
		f.message = string(v.GetStringBytes())
	case fastjson.TypeObject:
		if c := v.Get("code"); c != nil && c.Type() == fastjson.TypeNumber {
			if n, err := c.Int(); err == nil && n >= 400 && n <= 599 {
				f.code = n
			}
		}
		f.message = string(v.GetStringBytes("message"))
	}
	if f.message == "" {
		f.message = string(v.MarshalTo(nil))
	}
	return f
}

// says reports whether an error value reports an error: null, false, 0 and empty values do not.
func says(v *fastjson.Value) bool {
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
