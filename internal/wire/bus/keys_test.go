package bus

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeys: a controller with keys from a folder is known by the join line that was made with them, and wrong files are refused by name.
func TestKeys(t *testing.T) {
	made, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	files, err := made.Files()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		write(name, text)
	}
	read, err := ReadKeys(dir)
	if err != nil || read.Token != made.Token {
		t.Fatal(read, err)
	}
	s, err := Listen(Options{Listen: "127.0.0.1:0", Token: read.Token, Certificate: read.Certificate, Encrypt: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := Dial(t.Context(), DialOptions{Join: made.Join("127.0.0.1", s.Join().Port), Token: made.Token, Name: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	for name, text := range map[string]string{tokenFile: "short", certificateFile: "x", keyFile: "x"} {
		write(name, []byte(text))
		if _, err := ReadKeys(dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		write(name, files[name])
	}
	if err := os.Remove(filepath.Join(dir, keyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKeys(dir); err == nil || !strings.Contains(err.Error(), keyFile) {
		t.Error(err)
	}
}
