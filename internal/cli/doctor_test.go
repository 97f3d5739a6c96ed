package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/cli/doctor"
)

// TestDoctor: the page and the JSON have the same checks, the JSON is complete, and the exit status follows the worst level.
func TestDoctor(t *testing.T) {
	run := func(words ...string) (out string, status int) {
		var b, errs strings.Builder
		p := &Program{Streams: Streams{Out: &b, Err: &errs, Environ: []string{"HTTP_PROXY=http://u:hunter22secret@proxy:1"}}}
		status = Main(t.Context(), p, append([]string{"doctor", "--sample", "0.05"}, words...))
		if errs.Len() > 0 {
			t.Errorf("%v: %s", words, errs.String())
		}
		return b.String(), status
	}
	page, _ := run()
	text, status := run("--json", "--strict")
	var got struct {
		Level  doctor.Level
		Checks []doctor.Check
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Checks) < 14 {
		t.Fatalf("%v: %s", err, text)
	}
	if want := map[bool]int{true: 0, false: 3}[got.Level == doctor.OK]; status != want || got.Level == doctor.OK { // the proxy is a note
		t.Errorf("level %s, exit status %d", got.Level, status)
	}
	for _, c := range got.Checks {
		if !slices.Contains([]doctor.Level{doctor.OK, doctor.Note, doctor.Problem}, c.Level) || c.Found == "" || c.Meaning == "" || strings.ContainsAny(c.Name, " -") || strings.ToLower(c.Name) != c.Name {
			t.Errorf("%+v", c)
		}
	}
	if !strings.Contains(page, "proxy variables: ") || !strings.Contains(page, "kernel stamps: ") || strings.Contains(page+text, "hunter22secret") {
		t.Error(page)
	}
	for line := range strings.Lines(page) {
		if len([]rune(line)) > 111 && !strings.Contains(line, "/") { // a path is not broken
			t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
		}
	}
	var errs strings.Builder
	for _, words := range [][]string{{"doctor", "--sample", "0"}, {"doctor", "--sample", "x"}, {"doctor", "word"}} {
		if status := Main(t.Context(), &Program{Streams: Streams{Out: &errs, Err: &errs}}, words); status != 1 {
			t.Errorf("%v: exit status %d", words, status)
		}
	}
}
