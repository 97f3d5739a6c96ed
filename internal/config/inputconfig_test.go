package config

import (
	"strings"
	"testing"
)

func TestInputConfigShowsWhatWasSet(t *testing.T) {
	r := Default()
	r.Models.Items = []Model{{Name: "plain"}}
	r.Endpoint.URLs = []string{"http://user:secret@h:1"}
	r.Endpoint.Streaming = true
	r.Endpoint.APIKey = "sk-1"
	r.Datasets[0].Entries = 6
	r.Datasets[0].Prompts.ISL = Normal(64, 0)
	r.Datasets[0].Prompts.OSL = Normal(16, 0)
	six, two := 6, 2
	r.Phases[0].Requests, r.Phases[0].Concurrency = &six, &two
	r.Artifacts.Dir, r.Artifacts.Raw = "d", true
	r.Tokenizer.Name = "builtin"
	got, err := r.InputConfig()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"models":{"items":[{"name":"plain"}]},` +
		`"endpoint":{"urls":["http://<redacted>@h:1"],"type":"chat","api_key":"<redacted>","streaming":true},` +
		`"datasets":[{"name":"main","type":"synthetic","entries":6,"prompts":{"isl":{"mean":64.0},"osl":{"mean":16.0,"stddev":0.0}}}],` +
		`"phases":[{"name":"profiling","kind":"profiling","type":"concurrency","requests":6,"concurrency":2}],` +
		`"artifacts":{"dir":"d","records":["jsonl"],"raw":true,"auto_plot":false,"plot_required":false},` +
		`"tokenizer":{"name":"builtin"},"gpu_telemetry":{"enabled":true},` +
		`"server_metrics":{"enabled":true,"urls":[],"formats":["json","csv"]},"network_latency":{"enabled":false},` +
		`"otel":{},"mlflow":{},"wandb":{},"runtime":{"ui":"none"}}`
	if string(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// TestWhatIsWrittenHoldsNoSecret covers the kinds of secrets that a configuration can hold.
func TestWhatIsWrittenHoldsNoSecret(t *testing.T) {
	r := Default()
	r.Models.Items = []Model{{Name: "m"}}
	r.Endpoint.URLs = []string{"http://user:hush1@h:1", "http://h:1/v1?api_key=hush2&v=3"}
	r.Endpoint.APIKey = "hush3"
	r.Endpoint.Headers = Headers{{"X-Amz-Credential", "hush4"}, {"X-Request-Signature", "hush5"}, {"Proxy-Password", "hush6"}, {"X-Plain", "shown"}}
	path := "/v1/chat?token=hush7"
	r.Endpoint.Path = &path
	r.GPUTelemetry.URLs, r.ServerMetrics.URLs = []string{"http://u:hush8@h"}, []string{"http://u:hush9@h"}
	file, err := r.YAML()
	if err != nil {
		t.Fatal(err)
	}
	summary, err := r.InputConfig()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(file), string(summary)} {
		if strings.Contains(text, "hush") || !strings.Contains(text, "shown") || !strings.Contains(text, "v=3") {
			t.Errorf("a secret is shown, or too much is hidden:\n%s", text)
		}
	}
}

func TestInputConfigReadsBack(t *testing.T) {
	r := sample()
	r.Environment.Metrics.OSLMismatchPct = 7
	r.Tokenizer.ApplyChatTemplate, r.Endpoint.UseServerTokenCount = true, true
	first, err := r.InputConfig()
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadInputConfig(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := (&Run{SchemaVersion: SchemaVersion, Benchmark: *b}).InputConfig()
	if err != nil || string(second) != string(first) {
		t.Errorf("written\n%s\nread and written again\n%s (%v)", first, second, err)
	}
	for _, bad := range []string{"", "[]", "1", `{"phases":[]}`, `{"artifacts":{"slice_duration":"x"}}`} {
		if _, err := ReadInputConfig([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
