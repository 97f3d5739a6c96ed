package jsontext

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Overflow returns the key and the text of the first number of a JSON document that a double cannot represent, such as 1e400. The key looks like
// "request_latency.avg". Both are "" if there is no such number. The text must be valid JSON.
func Overflow(text []byte) (key, number string) {
	if OutOfRange(text) == "" {
		return "", ""
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return overflowIn(d, "")
}

// overflowIn does the work of Overflow for the next value of a decoder, which has the given key.
func overflowIn(d *json.Decoder, key string) (at, number string) {
	token, err := d.Token()
	if err != nil {
		return "", ""
	}
	switch v := token.(type) {
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return key, v.String()
		}
	case json.Delim:
		for i := 0; d.More(); i++ {
			name := strconv.Itoa(i)
			if v == '{' {
				token, _ := d.Token() // a name, because the text is valid
				name, _ = token.(string)
			}
			if key != "" {
				name = key + "." + name
			}
			if at, number = overflowIn(d, name); number != "" {
				return at, number
			}
		}
		_, _ = d.Token() // the end of the object or array
	}
	return "", ""
}
