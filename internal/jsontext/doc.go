// Package jsontext writes and reads plain JSON text, byte by byte and without trees: what is appended to a buffer (strings, numbers, ordered
// objects) and one strict scanner over a document. Everything written is valid UTF-8, without blanks, and only quotes, backslashes and control
// characters are escaped, as the Python tool's encoders do.
//
// encoding/json stays where a value of Go is read or written whole. Templates have rules of their own (package jinja: json.dumps with blanks, ASCII
// escapes and sorted keys).
package jsontext
