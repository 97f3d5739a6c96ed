package endpoint

import (
	"strings"

	"aiperf/internal/base/jsontext"
)

const (
	maxShapeNames = 8  // names of members in a description
	maxShapeName  = 40 // bytes of a name
)

// shapeOf describes a JSON document by what it is and the names of its members, without values, so that the answers to different requests have the same
// description.
func shapeOf(doc []byte) string {
	s := jsontext.Scanner{Doc: doc}
	switch s.Kind() {
	case '[':
		return "the answer is a list"
	case '{':
	default:
		return "the answer is a single value"
	}
	var names []string
	members(&s, func(key string) {
		if len(names) < maxShapeNames {
			names = append(names, strings.ToValidUTF8(key[:min(len(key), maxShapeName)], ""))
		} else if len(names) == maxShapeNames {
			names = append(names, "…")
		}
		s.Skip()
	})
	if len(names) == 0 {
		return "the answer is an empty object"
	}
	return "the answer contains " + strings.Join(names, ", ")
}
