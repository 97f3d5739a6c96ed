package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Load reads a run from a file in the layout that YAML writes. Keys that are absent have the values of Default; unknown keys are
// errors. The run is not validated.
func Load(path string) (*Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Parse reads a run from text.
func Parse(text []byte) (*Run, error) {
	r := Default()
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	switch err := dec.Decode(r); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, plainer(err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file holds more than one document")
	}
	return r, nil
}

var unknownKey = regexp.MustCompile(`field (\S+) not found in type config\.(\S+)`)

// plainer says what is wrong without naming Go types.
func plainer(err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	text = unknownKey.ReplaceAllStringFunc(text, func(s string) string {
		m := unknownKey.FindStringSubmatch(s)
		return "unknown key " + m[1] + " in " + strings.ToLower(m[2])
	})
	return errors.New(text)
}
