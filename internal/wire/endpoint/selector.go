package endpoint

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/jmespath/go-jmespath"
)

// selector is a JMESPath expression on a JSON document.
type selector struct {
	path  *jmespath.JMESPath
	first []byte // see firstName
}

// newSelector compiles an expression.
func newSelector(expression string) (*selector, error) {
	path, err := compilePath(expression)
	if err != nil {
		return nil, err
	}
	return &selector{path, firstName(expression)}, nil
}

// in evaluates the expression on a decoded document; nil = no such value, or there is no expression.
func (x *selector) in(tree any) (value any) {
	if x == nil || tree == nil {
		return nil
	}
	return searched(x.path, tree)
}

// holds reports whether the expression selects something that counts as true: not null, false, or empty.
func (x *selector) holds(tree any) bool {
	switch v := x.in(tree).(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true // a number
}

// textIn returns a selected text: a string, the joined strings of a list, or a number as it is written.
func (x *selector) textIn(tree any) (string, bool) { return textOf(x.in(tree)) }

func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case []any:
		var all strings.Builder
		some := false
		for _, e := range v {
			text, ok := textOf(e)
			all.WriteString(text)
			some = some || ok
		}
		return all.String(), some
	}
	return "", false
}

// treeOf decodes a document; nil = it is not JSON.
func treeOf(doc []byte) (tree any) {
	if json.Unmarshal(doc, &tree) != nil {
		return nil
	}
	return tree
}

// searched evaluates an expression; nil = no such value.
func searched(path *jmespath.JMESPath, tree any) (value any) {
	defer func() {
		if recover() != nil { // the library panics for some expressions on some documents: such an answer has no such value
			value = nil
		}
	}()
	value, err := path.Search(tree)
	if err != nil {
		return nil
	}
	return value
}
