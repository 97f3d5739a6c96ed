package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
)

// filesSettledOtherwise are the recordings of configuration files that the contract overrules; the key that differs precedes the
// reason.
var filesSettledOtherwise = map[string][2]string{
	"phase_dur_ms":  {"exit", "a length of time may be in milliseconds"},
	"telemetry_str": {"gpu_telemetry.urls", "the word names the collector and is no URL"},
	"cfg_genaiperf": {"exit", "it is taken for what it is, and its tokenizer cannot be had in a test"},
}

// TestRecordedFiles: configuration files are accepted, refused and resolved as recorded, with additional flags and without.
func TestRecordedFiles(t *testing.T) {
	testhome.Slow(t)
	unbuilt := pinned(t, "yaml_notbuilt.txt")
	for _, c := range readGolden[recorded](t, "yaml.jsonl.gz") {
		t.Run(c.Name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range c.Contents {
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			var out, errs bytes.Buffer
			p := &Program{
				Streams:       Streams{In: strings.NewReader(""), Out: &out, Err: &errs},
				Profile:       func(context.Context, *config.Run, Streams) int { return 0 },
				FindTokenizer: offline,
			}
			for k, v := range c.Env {
				p.Environ = append(p.Environ, k+"="+v)
			}
			status := Main(t.Context(), p, append(c.Args, "--dry-run"))
			if unbuilt.refused(t, c.Name, status, errs.String()) {
				return
			}
			differs, reason := compare(t, c, status, out.String(), errs.String())
			for _, word := range c.All {
				if differs == "" && !strings.Contains(errs.String(), word) {
					differs, reason = "words", word
				}
			}
			want, settled := filesSettledOtherwise[c.Name]
			switch {
			case settled && differs != want[0]:
				t.Errorf("should differ in %s (%s), differs in %q: %s", want[0], want[1], differs, reason)
			case !settled && differs != "":
				t.Errorf("%s: %s\n%s", differs, reason, errs.String())
			}
		})
	}
}
