//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aiperf/internal/base/testhome"
)

// configuration draws the flags of a run: what changes how its requests are counted, judged, cut up or written down.
func configuration(t *rapid.T) []string {
	maybe := func(args *[]string, more ...string) {
		if rapid.Bool().Draw(t, more[0]) {
			*args = append(*args, more...)
		}
	}
	of := func(label string, choices ...string) string { return rapid.SampledFrom(choices).Draw(t, label) }
	mock := "mock://?ttft=2ms&itl=200us&tokens=8"
	for _, knob := range []string{"&tokens-per-event=3", "&reasoning=0.5", "&error-rate=0.2&error-kinds=http-500+sse+close+reset", "&jitter=1", "&include-usage=false"} {
		if knob != "&include-usage=false" && rapid.Bool().Draw(t, knob) {
			mock += knob
		}
	}
	kind := of("type", "chat", "chat", "completions", "embeddings", "responses", "nim_rankings")
	args := []string{"--url", mock, "--endpoint-type", kind, "--isl", "8", "--num-dataset-entries", "12", "--export-level", "raw"}
	streams := kind == "chat" || kind == "completions" || kind == "responses"
	if streams {
		maybe(&args, "--streaming")
		maybe(&args, "--osl", "6")
		maybe(&args, "--session-turns-mean", "2")
		maybe(&args, "--session-turns-mean", "3", "--session-turns-stddev", "1")
	}
	if kind == "chat" {
		maybe(&args, "--per-chunk-usage", "--streaming", "--use-server-token-count")
		maybe(&args, "--tokenizer", templatePlace, "--apply-chat-template")
	}
	maybe(&args, "--use-server-token-count")
	maybe(&args, "--goodput", "request_latency:5")
	maybe(&args, "--slice-duration", "0.03")
	maybe(&args, "--profile-export-prefix", of("prefix", "foo", "sub/bar"))
	maybe(&args, "--export-http-trace")
	maybe(&args, "--show-trace-timing")
	maybe(&args, "--warmup-request-count", "3")
	maybe(&args, "--request-cancellation-rate", "30", "--request-cancellation-delay", "0.002")
	maybe(&args, "--random-seed", "5")
	loads := []string{"closed", "rate", "duration"}
	if streams {
		loads = append(loads, "schedule", "schedule")
	}
	switch of("load", loads...) {
	case "schedule":
		args = leaveOut(args, "--isl", "--num-dataset-entries", "--session-turns-mean", "--session-turns-stddev")
		args = append(args, "--input-file", schedulePlace, "--fixed-schedule")
		maybe(&args, "--no-fixed-schedule-auto-offset")
	case "closed":
		args = append(args, "--concurrency", "3", "--request-count", "30")
	case "rate":
		args = append(args, "--request-rate", "300", "--request-count", "30", "--arrival-pattern", of("distribution", "constant", "poisson"))
	default:
		args = append(args, "--concurrency", "2", "--benchmark-duration", "0.6", "--benchmark-grace-period", "0")
	}
	return once(args)
}

// Places in the arguments of a configuration where files stand.
const (
	templatePlace = "TOKENIZER" // a tokenizer with a chat template
	schedulePlace = "SCHEDULE"  // conversations with times
)

// place makes the files of a configuration.
func place(t *testing.T, args []string) []string {
	t.Helper()
	dir := t.TempDir()
	vocabulary := map[string]int{} // a token for every byte, as byte-level vocabularies spell them
	for b, spare := 0, 256; b < 256; b++ {
		if b >= 33 && b <= 126 || b >= 161 && b <= 255 && b != 173 {
			vocabulary[string(rune(b))] = b
			continue
		}
		vocabulary[string(rune(spare))] = b
		spare++
	}
	vocab, err := json.Marshal(vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for i := range 6 {
		fmt.Fprintf(&rows, `{"session_id":"s%d","turns":[{"text":"one two three","timestamp":%d},{"text":"four","timestamp":%d},{"text":"five","delay":3}]}`+"\n", i, 50+10*i, 90+10*i)
	}
	for name, text := range map[string]string{
		"tokenizer.json":        `{"model":{"type":"BPE","vocab":` + string(vocab) + `,"merges":[]},"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"},"added_tokens":[]}`,
		"tokenizer_config.json": `{}`,
		"chat_template.jinja":   `{% for m in messages %}<{{ m.role }}>{{ m.content }};{% endfor %}{% if add_generation_prompt %}<a>{% endif %}`,
		"schedule.jsonl":        rows.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args = slices.Clone(args)
	for i := range args {
		switch args[i] {
		case templatePlace:
			args[i] = dir
		case schedulePlace:
			args[i] = filepath.Join(dir, "schedule.jsonl")
		}
	}
	return args
}

// leaveOut leaves out flags and their values.
func leaveOut(args []string, flags ...string) (kept []string) {
	for i := 0; i < len(args); i++ {
		if slices.Contains(flags, args[i]) {
			i++
			continue
		}
		kept = append(kept, args[i])
	}
	return kept
}

// once keeps the first use of every flag, with its value.
func once(args []string) (kept []string) {
	seen := map[string]bool{}
	for i := 0; i < len(args); {
		n := i + 1
		for n < len(args) && !strings.HasPrefix(args[n], "--") {
			n++
		}
		if !seen[args[i]] {
			kept = append(kept, args[i:n]...)
		}
		seen[args[i]] = true
		i = n
	}
	return kept
}

// TestReportGivesWhatTheRunGave: every file of a report is that of the run, byte by byte, however the run was configured.
func TestReportGivesWhatTheRunGave(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	generator := rapid.Custom(configuration)
	drawn := map[string]int{}
	for seed := range 16 {
		for _, arg := range generator.Example(seed) {
			drawn[arg]++
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			args := place(t, generator.Example(seed))
			p := program(t, args...)
			if status := p.run(); status != 0 && !strings.Contains(p.stderr.String(), "requests failed") {
				t.Fatalf("%v: exit status %d\n%s", args, status, p.stderr.String())
			}
			p.reported(args)
		})
	}
	for _, must := range []string{"--apply-chat-template", "--fixed-schedule", "--use-server-token-count", "--per-chunk-usage", "--goodput", "--slice-duration", "--profile-export-prefix", "--export-http-trace"} {
		if drawn[must] == 0 {
			t.Errorf("no configuration has %s", must)
		}
	}
}

// reported makes the report of the run and compares its files.
func (p *process) reported(args []string) {
	p.t.Helper()
	again := command(p.t, "report", p.dir)
	var complaints strings.Builder
	again.Stderr = &complaints
	if err := again.Run(); err != nil && !strings.Contains(complaints.String(), "requests failed") {
		p.t.Fatalf("%v: report: %v\n%s", args, err, complaints.String())
	}
	compared := 0
	for _, name := range tree(p.t, p.dir) {
		if strings.HasPrefix(name, "report/") || strings.HasPrefix(name, "logs/") || name == "inputs.json" || strings.HasSuffix(name, "_raw.jsonl") {
			continue
		}
		compared++
		want, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			p.t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(p.dir, "report", name))
		if err != nil {
			p.t.Errorf("%v: the report lacks %s", args, name)
			continue
		}
		if at := differ(string(got), string(want)); at != "" {
			p.t.Errorf("%v: %s: %s", args, name, at)
		}
	}
	if compared < 4 {
		p.t.Errorf("%d files compared", compared)
	}
}

// differ shows the first lines that differ; "" = none.
func differ(got, want string) string {
	if got == want {
		return ""
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			k := 0
			for k < min(len(a[i]), len(b[i])) && a[i][k] == b[i][k] {
				k++
			}
			k = max(0, k-60)
			return fmt.Sprintf("line %d:\n the report %.300s\n the run    %.300s", i+1, a[i][k:], b[i][k:])
		}
	}
	return fmt.Sprintf("%d lines, the run %d", len(a), len(b))
}

// TestReportOfASeries: every run of a series gets its report, at its place below the report's directory.
func TestReportOfASeries(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	p := program(t, "--url", "mock://?ttft=1ms&itl=0&tokens=2", "--isl", "8", "--num-dataset-entries", "4", "--request-count", "4", "--export-level", "raw",
		"--concurrency", "1,2", "--num-profile-runs", "2")
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	again := command(t, "report", p.dir)
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("report: %v\n%s", err, out)
	}
	compared := 0
	for _, name := range tree(t, p.dir) {
		if strings.HasPrefix(name, "report/") || filepath.Base(name) != "profile_export_aiperf.json" {
			continue
		}
		compared++
		want, err1 := os.ReadFile(filepath.Join(p.dir, name))
		got, err2 := os.ReadFile(filepath.Join(p.dir, "report", name))
		if err1 != nil || err2 != nil || differ(string(got), string(want)) != "" {
			t.Errorf("%s: %v %v %s", name, err1, err2, differ(string(got), string(want)))
		}
	}
	if compared != 4 {
		t.Errorf("%d runs compared, want 4", compared)
	}
}
