package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretYAML: the file has no secret, and with the variables it is read as the same run.
func TestSecretYAML(t *testing.T) {
	run := Default()
	run.Endpoint.APIKey = "key-of-mine-1234"
	run.Endpoint.URLs = []string{"http://user:pass-word-9@h:1"}
	run.Endpoint.Headers = Headers{{Name: "Authorization", Value: "Bearer key-of-mine-1234-longer"}, {Name: "X-Note", Value: "costs ${5}"}}
	text, values, err := run.SecretYAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range run.Secrets() {
		if secret != "" && strings.Contains(string(text), secret) {
			t.Errorf("%s is in the file:\n%s", secret, text)
		}
	}
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	read, _, err := Load(path, DefaultEnvironment(), func(name string) (string, bool) { v, ok := values[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	if read.Endpoint.APIKey != run.Endpoint.APIKey || read.Endpoint.URLs[0] != run.Endpoint.URLs[0] {
		t.Errorf("%+v", read.Endpoint)
	}
	for i, h := range run.Endpoint.Headers {
		if read.Endpoint.Headers[i] != h {
			t.Errorf("%+v, want %+v", read.Endpoint.Headers[i], h)
		}
	}
}
