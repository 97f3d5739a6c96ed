package config

import (
	"testing"
)

func TestYAMLOfDefault(t *testing.T) {
	out, err := Default().YAML()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(string(out))
}
