package resolve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/redact"
	"aiperf/internal/config"
)

// parseExtras reads the items of --extra-inputs: "key:value,key:value", a JSON object, or a JSON array of such items.
// Later keys override earlier ones.
func parseExtras(items []string) (config.Extra, error) {
	extra := config.Extra{}
	for _, item := range items {
		if err := addExtra(&extra, item, true); err != nil {
			return nil, err
		}
	}
	return extra, nil
}

func addExtra(extra *config.Extra, item string, arrays bool) error {
	item = strings.TrimSpace(item)
	switch {
	case item == "":
		return fmt.Errorf("an item is empty; write key:value")
	case item[0] == '{':
		return addObject(item, extra.Set)
	case item[0] == '[' && arrays:
		var list []string
		if err := json.Unmarshal([]byte(item), &list); err != nil {
			return fmt.Errorf("%q is not a JSON array of \"key:value\" texts", item)
		}
		for _, one := range list {
			if err := addExtra(extra, one, false); err != nil {
				return err
			}
		}
		return nil
	}
	for piece := range strings.SplitSeq(item, ",") {
		key, value, ok := strings.Cut(piece, ":")
		key = strings.TrimSpace(key)
		if !ok {
			return fmt.Errorf("%q has no \":\"; write key:value, or a JSON object for values with commas, brackets or braces", strings.TrimSpace(piece))
		}
		if key == "" {
			return fmt.Errorf("%q has an empty key", piece)
		}
		extra.Set(key, typedValue(strings.TrimSpace(value)))
	}
	return nil
}

// typedValue converts a bare word to JSON: true, false, null, an integer without leading zeros, or digits with one point; anything else is a string.
func typedValue(word string) json.RawMessage {
	switch strings.ToLower(word) {
	case "true", "false":
		return json.RawMessage(strings.ToLower(word))
	case "none", "null":
		return json.RawMessage("null")
	}
	if n, ok := numberText(word); ok {
		return json.RawMessage(n)
	}
	return jsontext.AppendString(nil, word)
}

// numberText returns the JSON spelling of a plain decimal number.
func numberText(word string) (string, bool) {
	body, negative := strings.CutPrefix(word, "-")
	whole, fraction, point := strings.Cut(body, ".")
	if !digits(whole) || !digits(fraction) || whole == "" && fraction == "" {
		return "", false
	}
	if point {
		f, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return "", false
		}
		return config.FormatFloat(f), true
	}
	if len(whole) > 1 && whole[0] == '0' {
		return "", false
	}
	if negative && whole == "0" {
		return "0", true
	}
	return word, true
}

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// addObject calls set for every member of a JSON object, in order, with the value as compact JSON.
func addObject(text string, set func(key string, value json.RawMessage)) error {
	if err := jsontext.Check([]byte(text)); err != nil {
		return badObject(text, err)
	}
	scan := jsontext.Scanner{Doc: []byte(text)}
	if !scan.Open('{') {
		return badObject(text, errors.New("the JSON value has another type"))
	}
	for first := true; scan.Next('}', first); first = false {
		key := string(jsontext.AppendUTF8(nil, scan.Key()))
		if strings.TrimSpace(key) == "" {
			return fmt.Errorf("a member of the JSON object has an empty key")
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, scan.Raw()); err != nil {
			return badObject(text, err)
		}
		set(key, compact.Bytes())
	}
	return nil
}

func badObject(text string, err error) error {
	return fmt.Errorf("%s is not a JSON object: %w", redact.Text(text), err)
}
