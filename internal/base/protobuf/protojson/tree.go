package protojson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// A parsed text consists of object, []any, string, number, bool and nil. An object holds its members in order, with those that come twice.
type object []member

type member struct {
	name  string
	value any
}

// number is a number as it is written.
type number string

// isNumber reports whether a text is a number in JSON.
func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') && text[len(text)-1] != ' ' && json.Valid([]byte(text))
}

// parseTree parses a text.
func parseTree(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	tree, err := parseValue(d, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSyntax, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: text follows the message", errSyntax)
	}
	return tree, nil
}

// parseValue parses the next value.
func parseValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	token, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Number:
		return number(token), nil
	case json.Delim:
		if token == '[' {
			return parseList(d, depth)
		}
		return parseObject(d, depth)
	}
	return token, nil
}

func parseList(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func parseObject(d *json.Decoder, depth int) (any, error) {
	members := object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		members = append(members, member{name.(string), v})
	}
	_, err := d.Token()
	return members, err
}

// describe names a value in an error.
func describe(tree any) string {
	switch v := tree.(type) {
	case nil:
		return "null"
	case object:
		return "an object"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("%.80q", v)
	}
	return fmt.Sprintf("%.80v", tree)
}
