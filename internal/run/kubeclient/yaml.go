package kubeclient

import (
	"bytes"
	"encoding/json"

	"go.yaml.in/yaml/v3"
)

// unmarshal reads JSON, or YAML with the same keys: log-in programs may print both.
func unmarshal(text []byte, into any) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return json.Unmarshal(text, into)
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
