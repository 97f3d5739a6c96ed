package grade

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// test is one test of a program.
type test struct{ input, output string }

// maxTests is the maximum size of the tests of one problem, in unpacked bytes.
const maxTests = 1 << 30

// readTests reads the public and private tests, and the name of the function that they call; "" = the program reads its input and writes its output
// itself.
func readTests(gold string) (tests []test, function string, err error) {
	var problem struct {
		Public   json.RawMessage `json:"public_test_cases"`
		Private  json.RawMessage `json:"private_test_cases"`
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(gold), &problem); err != nil {
		return nil, "", err
	}
	for _, one := range []struct {
		name string
		raw  json.RawMessage
	}{{"public_test_cases", problem.Public}, {"private_test_cases", problem.Private}} {
		list, err := testList(one.raw)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", one.name, err)
		}
		tests = append(tests, list...)
	}
	if len(tests) == 0 {
		return nil, "", errors.New("there are none")
	}
	if text := unquoted(problem.Metadata); len(text) > 0 {
		var meta any
		if err := json.Unmarshal(text, &meta); err != nil {
			return nil, "", fmt.Errorf("metadata: %w", err)
		}
		if m, ok := meta.(map[string]any); ok {
			function, _ = m["func_name"].(string)
		}
	}
	return tests, function, nil
}

// unquoted returns a JSON value as JSON text; a string is taken to contain the JSON text.
func unquoted(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil { // null is not a string
		return []byte(text)
	}
	return raw
}

// testList reads a list of tests: JSON, a string with JSON, or a packed string (base64, zlib, pickle).
func testList(raw json.RawMessage) ([]test, error) {
	text := unquoted(raw)
	if len(text) == 0 {
		return nil, nil
	}
	if packed, err := unpack(text); err == nil {
		text = packed
	}
	var items []struct{ Input, Output any }
	var keys []map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &items); err != nil {
		return nil, err
	}
	tests := make([]test, len(items))
	for i, item := range items {
		for _, name := range []string{"input", "output"} {
			if _, ok := keys[i][name]; !ok {
				return nil, fmt.Errorf("test %d has no %s", i, name)
			}
		}
		in, ok1 := joinLines(item.Input)
		out, ok2 := joinLines(item.Output)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("test %d: input and output must be text", i)
		}
		tests[i] = test{in, out}
	}
	return tests, nil
}

// joinLines returns a text, or the joined lines of a list of texts.
func joinLines(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		lines := make([]string, len(v))
		for i, line := range v {
			text, ok := line.(string)
			if !ok {
				return "", false
			}
			lines[i] = text
		}
		return strings.Join(lines, "\n"), true
	}
	return "", false
}

// unpack decodes base64, zlib and the pickle of a text.
func unpack(packed []byte) ([]byte, error) {
	compressed, err := base64.StdEncoding.DecodeString(string(packed))
	if err != nil {
		return nil, err
	}
	z, err := zlib.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, err
	}
	pickled, err := io.ReadAll(io.LimitReader(z, maxTests))
	if err != nil {
		return nil, err
	}
	return pickledText(pickled)
}

var errPickle = errors.New("the pickle holds something other than text")

// pickledText reads the pickle of one text, of any protocol. It accepts nothing else, because a pickle can name code to run.
func pickledText(p []byte) (text []byte, err error) {
	next := func(n uint64) []byte {
		if n > uint64(len(p)) {
			err = errPickle
			return nil
		}
		part := p[:n]
		p = p[n:]
		return part
	}
	length := func(bytes uint64) uint64 {
		var wide [8]byte
		copy(wide[:], next(bytes))
		return binary.LittleEndian.Uint64(wide[:])
	}
	for len(p) > 0 && err == nil {
		switch op := next(1)[0]; op {
		case 0x80, 'q': // protocol; index in the memo
			next(1)
		case 'r':
			next(4)
		case 0x95: // frame
			next(8)
		case 0x94: // memo
		case 0x8c:
			text = next(length(1))
		case 'X':
			text = next(length(4))
		case 0x8d:
			text = next(length(8))
		case '.':
			if text == nil {
				return nil, errPickle
			}
			return text, err
		default:
			return nil, errPickle
		}
	}
	return nil, errPickle
}
