package connection

import (
	"strings"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

// TestErrorsSpellSettings: an error names the setting as the user wrote it, and its flag when nobody knows.
func TestErrorsSpellSettings(t *testing.T) {
	b := &config.Default().Benchmark
	e, _, err := endpoint.Lookup("chat")
	if err != nil {
		t.Fatal(err)
	}
	for want, spell := range map[string]func(string) string{
		"--url: ":                   nil,
		"c.yaml:3: endpoint.urls: ": func(key string) string { return "c.yaml:3: " + key },
	} {
		b.Spelling = spell
		if _, err := NewAddresses([]string{"http://h:port"}, b, e); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
