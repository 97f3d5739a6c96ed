package cli

import (
	"os"
	"strings"
	"testing"
)

// TestGPUWordsLive: the live table is the dashboard's; if it is requested and none is shown, there is a warning, however it was requested.
func TestGPUWordsLive(t *testing.T) {
	t.Chdir(t.TempDir())
	const panel = "only the dashboard has a live table; the report has the figures"
	for _, c := range []struct {
		flags, file string // the words of the line, or what a file says of gpu_telemetry
		terminal    bool
		ui          string
		want        string // on standard error; "" = nothing of the GPU figures
	}{
		{flags: "--gpu-telemetry dashboard", want: "--gpu-telemetry dashboard: " + panel},
		{flags: "--gpu-telemetry DASHBOARD h:1", want: "--gpu-telemetry dashboard: " + panel},
		{flags: "--gpu-telemetry dashboard", terminal: true},
		{flags: "--gpu-telemetry dashboard", terminal: true, ui: "simple", want: "--gpu-telemetry dashboard: " + panel},
		{flags: "--gpu-telemetry dashboard", ui: "dashboard", want: "--gpu-telemetry dashboard: " + panel},
		{flags: "--gpu-telemetry amdsmi", terminal: true}, {flags: "--gpu-telemetry h:1"}, {flags: "--gpu-telemetry pynvml", terminal: true},
		{file: "dashboard", want: "benchmark.gpu_telemetry.mode realtime_dashboard: " + panel},
		{file: "{mode: realtime_dashboard}", want: "benchmark.gpu_telemetry.mode realtime_dashboard: " + panel},
		{file: "{mode: realtime_dashboard}", terminal: true},
		{file: "AMDSMI", terminal: true}, {file: "{collector: amdsmi}", terminal: true},
		{file: "{collector: amdsmi}", flags: "--no-gpu-telemetry"}, {file: "{collector: amdsmi, mode: realtime_dashboard, enabled: false}", terminal: true},
		{file: "{mode: summary}", flags: "--gpu-telemetry dashboard", want: "--gpu-telemetry dashboard: " + panel},
		{file: "pynvml", terminal: true},
	} {
		words := "profile --dry-run --model m --tokenizer builtin"
		if c.file != "" {
			text := "benchmark:\n  model: m\n  endpoint: {url: h}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n  phases: {type: concurrency, requests: 1}\n  gpu_telemetry: " + c.file + "\n"
			if err := os.WriteFile("c.yaml", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			words = "profile --dry-run --config c.yaml"
		}
		if c.ui != "" {
			words += " --ui " + c.ui
		}
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs, Terminal: c.terminal}, FindTokenizer: offline}
		status := Main(t.Context(), p, append(strings.Fields(words), strings.Fields(c.flags)...))
		said := strings.Contains(errs.String(), "live table")
		if status != 0 || !strings.Contains(errs.String(), c.want) || c.want == "" && said {
			t.Errorf("%+v: status %d, %s", c, status, errs.String())
		}
	}
}
