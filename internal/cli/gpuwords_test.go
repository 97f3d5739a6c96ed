package cli

import (
	"os"
	"strings"
	"testing"
)

// TestGPUWordsNotBuilt: what is not built of the GPU figures is refused by the dry run already, however it is said; a live panel that no
// terminal could show is warned of.
func TestGPUWordsNotBuilt(t *testing.T) {
	t.Chdir(t.TempDir())
	const panel = "no live panel is built yet; the figures stand in the report"
	for _, c := range []struct {
		flags, file string // the words of the line, or what a file says of gpu_telemetry
		terminal    bool
		status      int
		want        string // on standard error; "" = nothing of the GPU figures
	}{
		{flags: "--gpu-telemetry dashboard", want: "--gpu-telemetry dashboard: " + panel},
		{flags: "--gpu-telemetry DASHBOARD h:1", want: "--gpu-telemetry dashboard: " + panel},
		{flags: "--gpu-telemetry dashboard", terminal: true, status: 1, want: "--gpu-telemetry dashboard: not built yet"},
		{flags: "--gpu-telemetry amdsmi", terminal: true}, {flags: "--gpu-telemetry h:1"}, {flags: "--gpu-telemetry pynvml", terminal: true},
		{file: "dashboard", want: "benchmark.gpu_telemetry.mode realtime_dashboard: " + panel},
		{file: "{mode: realtime_dashboard}", want: "benchmark.gpu_telemetry.mode realtime_dashboard: " + panel},
		{file: "{mode: realtime_dashboard}", terminal: true, status: 1, want: "benchmark.gpu_telemetry.mode realtime_dashboard: not built yet"},
		{file: "AMDSMI", terminal: true}, {file: "{collector: amdsmi}", terminal: true},
		{file: "{collector: amdsmi}", flags: "--no-gpu-telemetry"}, {file: "{collector: amdsmi, mode: realtime_dashboard, enabled: false}", terminal: true},
		{file: "{mode: summary}", flags: "--gpu-telemetry dashboard", want: "--gpu-telemetry dashboard: " + panel},
		{file: "pynvml", terminal: true},
	} {
		words := "profile --dry-run --ui none --model m --tokenizer builtin"
		if c.file != "" {
			text := "benchmark:\n  model: m\n  endpoint: {url: h}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n  phases: {type: concurrency, requests: 1}\n  gpu_telemetry: " + c.file + "\n"
			if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			words = "profile --dry-run --ui none --config c.yaml"
		}
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs, Terminal: c.terminal}, FindTokenizer: offline}
		status := Main(t.Context(), p, append(strings.Fields(words), strings.Fields(c.flags)...))
		said := strings.Contains(errs.String(), "built")
		if status != c.status || !strings.Contains(errs.String(), c.want) || c.want == "" && said {
			t.Errorf("%+v: status %d, %s", c, status, errs.String())
		}
	}
}
