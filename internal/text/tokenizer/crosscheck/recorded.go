package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"aiperf/internal/text/tokenizer/hf"
	"aiperf/internal/text/tokenizer/pipeline"
)

// recordedVector is one line of the recorded vectors: a text, its ids by tokenizer, and the decoded text if it differs.
type recordedVector struct {
	Text          string
	IDs           map[string][]int32
	DecodeDiffers map[string]string `json:"decode_differs"`
}

// readRecorded reads a gzipped file of recorded vectors, one JSON object per line.
func readRecorded(path string) ([]recordedVector, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []recordedVector
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r recordedVector
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, len(all)+1, err)
		}
		all = append(all, r)
	}
	return all, lines.Err()
}

// checkRecorded compares f with the vectors for name; total is 0 if there are none.
func checkRecorded(f *hf.File, name string, all []recordedVector, show int) (bad, total int) {
	for _, r := range all {
		want, ok := r.IDs[name]
		if !ok {
			continue
		}
		total++
		text, ok := r.DecodeDiffers[name]
		if !ok {
			text = r.Text
		}
		got, err := f.Pipeline.Append(pipeline.Limits(len(r.Text)), nil, r.Text)
		back := f.Pipeline.Decode(want)
		if err == nil && slices.Equal(got, want) && back == text {
			continue
		}
		if bad++; bad <= show {
			fmt.Printf("  recorded vector %.200q\n    got  %v %.200q\n    want %v %.200q\n", r.Text, clip(got), back, clip(want), text)
		}
	}
	return bad, total
}
