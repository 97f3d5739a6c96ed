package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// eachLine decodes every line of a JSONL file.
func eachLine[T any](path string, f func(*T)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<20)
	d := json.NewDecoder(lines)
	for n := 1; d.More(); n++ {
		var v T
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		f(&v)
	}
	return nil
}

// recordLine is the part of a records file's line that the figures need: the instants of a request, in Unix ns.
type recordLine struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
		Scheduled int64  `json:"scheduled_ns"`
		Issued    int64  `json:"credit_issued_ns"`
		Start     int64  `json:"request_start_ns"`
		End       int64  `json:"request_end_ns"`
	} `json:"metadata"`
	Error *struct{ Message string } `json:"error"`
}

// readRecords reads the records of a run; a failed request is an error.
func readRecords(dir string) ([]recordLine, error) {
	var list []recordLine
	var failed error
	err := eachLine(dir+"/profile_export.jsonl", func(r *recordLine) {
		if r.Error != nil && failed == nil {
			failed = fmt.Errorf("a request failed: %s", r.Error.Message)
		}
		list = append(list, *r)
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: no records", dir)
	}
	if err == nil {
		err = failed
	}
	return list, err
}

// validity is what the summary of a run says about its validity.
type validity struct {
	Verdict   string  `json:"verdict"`
	ReadDelay float64 `json:"read_delay_p50_ms"`
	Achieved  float64 `json:"achieved_send_rate"`
	Packets   int64   `json:"packet_stamps"`
	Messages  int64   `json:"messages"`
}

func readValidity(dir string) (validity, error) {
	var summary struct {
		Validity validity `json:"validity"`
	}
	err := readSummary(dir, &summary)
	return summary.Validity, err
}

// readSummary reads parts of a run's JSON summary.
func readSummary(dir string, parts any) error {
	b, err := os.ReadFile(dir + "/profile_export_aiperf.json")
	if err == nil {
		err = json.Unmarshal(b, parts)
	}
	return err
}

// runBenchmark runs a benchmark and returns its records and its verdict.
func (b *suite) runBenchmark(args ...string) (list []recordLine, v validity, err error) {
	dir, _, err := b.profile(args...)
	if err != nil {
		return nil, v, err
	}
	if list, err = readRecords(dir); err != nil {
		return nil, v, err
	}
	v, err = readValidity(dir)
	return list, v, err
}
