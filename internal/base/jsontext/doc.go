// Package jsontext writes and reads plain JSON text without building trees. It appends strings, numbers and ordered objects to a buffer, and has one
// strict scanner over a document. All output is valid UTF-8 without blanks. As in the Python tool's encoders, only quotes, backslashes and control
// characters are escaped.
//
// Code that reads or writes a whole Go value uses encoding/json. Templates follow other rules (package jinja: json.dumps with blanks, ASCII escapes
// and sorted keys).
package jsontext
