// Package testrecording reads the expected data of tests: recordings under testdata, plain or compressed. It is for tests only.
package testrecording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// Read returns the content of a file, decompressed if its name ends in .gz.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		data, err = unpack(data)
	}
	if err != nil {
		t.Fatalf("golden %s: %v", path, err)
	}
	return data
}

func unpack(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// JSON decodes a file into v.
func JSON(t testing.TB, path string, v any) {
	t.Helper()
	if err := json.Unmarshal(Read(t, path), v); err != nil {
		t.Fatalf("golden %s: %v", path, err)
	}
}

// Lines decodes every line of a JSONL file.
func Lines[T any](t testing.TB, path string) []T {
	t.Helper()
	var list []T
	s := bufio.NewScanner(bytes.NewReader(Read(t, path)))
	s.Buffer(nil, 1<<28)
	for n := 1; s.Scan(); n++ {
		var v T
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatalf("golden %s:%d: %v", path, n, err)
		}
		list = append(list, v)
	}
	if err := s.Err(); err != nil {
		t.Fatalf("golden %s: %v", path, err)
	}
	return list
}
