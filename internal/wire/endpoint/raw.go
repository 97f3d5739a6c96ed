package endpoint

import "aiperf/internal/workload/conversation"

// openRaw makes the codec of ready bodies (endpoints, section 9.17). They are sent unchanged, and the answer may have any format.
func openRaw(s Settings) (Codec, error) {
	field, err := responseField(&s)
	if err != nil {
		return nil, err
	}
	t := freeType(field)
	t.encode = func(_ *body, t *conversation.Turn, _ *History) error {
		return invalid(t, "endpoint type raw sends complete bodies; give them in a file of type raw_payload or inputs_json, or choose a type that builds bodies, for example chat or template")
	}
	return t.open(s)
}
