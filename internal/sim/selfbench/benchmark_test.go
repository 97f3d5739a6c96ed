package main

import (
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAnswerLength(t *testing.T) {
	for _, c := range []struct {
		answer string
		want   int
	}{
		{"HTTP/1.1 200 OK\r\nContent-Le", unknown},
		{"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n", 38 + 2},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n", chunked},
	} {
		if got := answerLength([]byte(c.answer)); got != c.want {
			t.Errorf("%q: %d, want %d", c.answer, got, c.want)
		}
	}
}

// An answer may come in any pieces.
func TestFloorReadsPieces(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
		strings.Repeat("a\r\ndata: {}\n\n\r\n", 20) + "0\r\n\r\n"
	for _, step := range []int{13, 100, len(answer)} {
		near, far := net.Pipe()
		go func() {
			for rest := answer; rest != ""; rest = rest[min(step, len(rest)):] {
				far.Write([]byte(rest[:min(step, len(rest))]))
			}
			far.Close()
		}()
		f := &floor{}
		if err := f.answer(near, make([]byte, 64<<10)); err != nil {
			t.Errorf("pieces of %d bytes: %v", step, err)
		}
	}
}

func TestSample(t *testing.T) {
	var s sample
	if !math.IsNaN(s.at(.5)) {
		t.Error("the median of nothing is a number")
	}
	for i := range int64(100) {
		s.add(99 - i)
	}
	if s.at(0) != 0 || s.at(.5) != 49.5 || s.at(.99) != 98.01 || s.at(1) != 99 {
		t.Error(s.at(0), s.at(.5), s.at(.99), s.at(1))
	}
}

func TestSpan(t *testing.T) {
	for ns, want := range map[float64]string{12: "12 ns", -1500: "-1.5 µs", 2.5e6: "2.50 ms", 3e9: "3.00 s", math.NaN(): "none"} {
		if got := span(ns); got != want {
			t.Errorf("%v: %q, want %q", ns, got, want)
		}
	}
}

func TestMarginal(t *testing.T) {
	cost := func(n int) (time.Duration, error) { return time.Second + time.Duration(n)*time.Microsecond, nil }
	if ns, err := marginal(cost, 100, 500); err != nil || ns != 1000 {
		t.Error(ns, err)
	}
}

func TestChoose(t *testing.T) {
	if _, err := choose("cpu,crwd"); err == nil || !strings.Contains(err.Error(), "crwd") {
		t.Error(err)
	}
	if list, err := choose(""); err != nil || len(list) != len(figures)-3 {
		t.Error(len(list), err)
	}
}

// A request that the server logged is matched with what the client exported.
func TestErrorsOf(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	truth := write("truth.jsonl", `{"request_id":"a","writes":[[0,1000,1001,0,0],[0,2000,2001,1,1],[0,3000,3001,1,1]]}`+"\n")
	const event = `{"perf_ns":%,"packets":[{"name":"data","value":"{\"delta\":{\"content\":\"x\"}}"}]}`
	at := func(perf string) string { return strings.Replace(event, "%", perf, 1) }
	line := `{"metadata":{"x_request_id":"a","request_start_ns":900},"start_perf_ns":100,"responses":[`
	write("profile_export_raw.jsonl", line+at("1205")+","+at("2207")+"]}\n")
	first, all, err := errorsOf(truth, dir)
	if err != nil || len(first) != 1 || len(all) != 2 || first[0] != 5 || all[1] != 7 {
		t.Error(first, all, err)
	}
	write("profile_export_raw.jsonl", line+at("1205")+"]}\n")
	if _, _, err := errorsOf(truth, dir); err == nil {
		t.Error("a lost token is no error")
	}
}

func TestExponential(t *testing.T) {
	far := make([]recordLine, 1000)
	for i := range far { // gaps all alike
		far[i].Metadata.Start = int64(i) * 1e6
	}
	if got := exponential(far); !strings.HasPrefix(got, "0.63") { // 1 - 1/e
		t.Error(got)
	}
}

// TestResident: a largest resident set is in bytes whatever the system counts in.
func TestResident(t *testing.T) {
	for system, want := range map[string]int64{"linux": 2 << 20, "freebsd": 2 << 20, "darwin": 2048} {
		if got := resident(2048, system); got != want {
			t.Errorf("%s: %d bytes, want %d", system, got, want)
		}
	}
}

func TestBudgets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.txt")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# a comment\n\n1.5   event, 100 streams\n")
	b, err := readBudgets(file)
	if err != nil || b.of("event, 100 streams") != "1.5" || b.of("other") != "" {
		t.Error(b, err)
	}
	for ratio, want := range map[float64]bool{2.9: false, 3.1: true} {
		if problem := b.exceeded("event, 100 streams", ratio); (problem != "") != want {
			t.Errorf("ratio %g: %q", ratio, problem)
		}
	}
	if problem := b.exceeded("other", 100); problem != "" {
		t.Error(problem)
	}
	write("1.5 a\nmuch b\n")
	if _, err := readBudgets(file); err == nil || !strings.Contains(err.Error(), "bench.txt:2: found \"much b\"") {
		t.Error(err)
	}
}

// TestBudgetsOfTheRepository: every row of the file is one that is measured.
func TestBudgetsOfTheRepository(t *testing.T) {
	b, err := readBudgets("../../../bench.txt")
	if err != nil {
		t.Fatal(err)
	}
	titles := []string{loopBudget}
	for _, task := range tasks {
		titles = append(titles, task.title)
	}
	for _, c := range crowdSizes {
		titles = append(titles, c.title())
	}
	for _, title := range titles {
		if b[title] == 0 {
			t.Errorf("%q has no budget", title)
		}
		delete(b, title)
	}
	if len(b) > 0 {
		t.Errorf("budgets of rows that do not exist: %v", b)
	}
}
