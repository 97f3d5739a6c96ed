package agentic

import (
	"errors"
	"os"
	"path/filepath"

	"aiperf/internal/base/jsontext"
)

// Manifest records what a directory was generated from. It can be used as a configuration for another run.
type Manifest struct {
	Seed     uint64  `json:"seed"`
	Sessions int     `json:"num_sessions"`
	Name     string  `json:"config_name"`
	Params   *Config `json:"generation_params"`
}

// Made is a data set with its inputs.
type Made struct {
	*Config
	Name     string // name of the configuration
	Seed     uint64
	Sessions []Session
	Command  string // command that generates it again from its manifest
}

// Write writes the files of a data set into a directory: dataset.jsonl, manifest.json, quality.json, cache_structure.json and comparison.txt. It
// returns the comparison.
func (m *Made) Write(dir string) (comparison string, err error) {
	file, err := os.Create(filepath.Join(dir, "dataset.jsonl"))
	if err != nil {
		return "", err
	}
	if err := errors.Join(WriteRows(file, m.Config, m.Sessions), file.Close()); err != nil {
		return "", err
	}
	q := Judge(m.Config, m.Sessions)
	for file, v := range map[string]any{
		"manifest.json": &Manifest{m.Seed, len(m.Sessions), m.Name, m.Config}, "quality.json": q, "cache_structure.json": StructureOf(m.Config, m.Sessions),
	} {
		text, err := jsontext.Marshal(v)
		if err == nil {
			text, err = jsontext.Indent(text)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), append(text, '\n'), 0o644)
		}
		if err != nil {
			return "", err
		}
	}
	comparison = q.compare(m.Config, m.Sessions)
	return comparison, os.WriteFile(filepath.Join(dir, "comparison.txt"), []byte(comparison), 0o644)
}
