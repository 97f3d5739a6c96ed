package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/preflight"
	"aiperf/internal/run/results"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/dataset/public"
)

// elsewhere are the leaves of the configuration that show in no option, and where their effect is seen.
var elsewhere = map[string]string{
	"environment.accuracy.lcb_release_tag":  "TestReleases (internal/workload/accuracy)",
	"environment.accuracy.bfcl_version_pin": "TestBFCLRefusals (internal/workload/accuracy)",
	"datasets.main.name":                    "a name, for messages", "phases.profiling.exclude_from_results": "follows the kind, Validate refuses another",
	"phases.warmup.exclude_from_results": "follows the kind, Validate refuses another",
	"endpoint.probe":                     "TestProbe",
	"runtime.api_token":                  "TestAPIToken",
	"runtime.plugins_lock":               "plugins.txt of cmd/aiperf",
	"environment.api_server.token":       "TestAPIToken",
	"endpoint.transport":                 "one choice", "endpoint.url_strategy": "one choice",
	"datasets.main.type": "the bases differ in it", "datasets.main.prompts.block_size": "told to have no effect: generated prompts have no hash ids",
	"datasets.main.format":       "TestRecordedFiles of package cli",
	"datasets.main.input_column": "columns.txt of cmd/aiperf",
	"datasets.main.dataset":      "TestPublicOptions", "datasets.main.hf_subset": "TestPublicOptions", "datasets.main.dataset_path": "TestPublicOptions", "datasets.main.filters": "TestPublicOptions",
	"artifacts.summary": "TestAdapterAndNoSummary", "artifacts.trace": "TestFlagsReachTheRun", "artifacts.slice_duration": "TestFlagsReachTheRun",
	"artifacts.show_trace_timing": "TestFlagsReachTheRun", "artifacts.auto_plot": "TestAutoPlot", "artifacts.plot_required": "TestAutoPlot",
	"artifacts.export_html": "TestOneRunEverywhere", "artifacts.export_outputs_json": "TestOutputs",
	"tokenizer.trust_remote_code": "told to have no effect",
	"phases.warmup.end_offset":    "the window of the data is that of the measured phase",
	"runtime.ui":                  "package plan chooses the progress line by it", "runtime.stats_interval": "TestFlagsReachTheRun", "logging.level": "TestFlagsReachTheRun",
	"environment.dataset.media_download_timeout": "TestFetch", "environment.dataset.media_download_max_concurrency": "TestFetch",
	"environment.ui.console_export_width": "package plan", "environment.ui.live_file": "TestNoLiveFile", "gpu_telemetry.enabled": "the telemetry key of the summary", "server_metrics.enabled": "TestBadExporters",
	"network_latency.enabled": "TestSimulatedGPUs", "network_latency.ping_interval": "TestSimulatedGPUs", "environment.network_latency.min_samples": "TestSimulatedGPUs",
	"environment.network_latency.connect_timeout": "TestSimulatedGPUs",
	"otel.metrics_url":                            "TestCollector", "otel.stream_metrics_enabled": "TestCollector", "otel.stream_timing_enabled": "TestCollector",
	"otel.stream_traces_enabled": "TestCollector", "otel.custom_resource_attributes": "TestCollector", "otel.gen_ai_provider": "TestCollector",
	"environment.otel.flush_interval": "TestCollector", "environment.otel.max_batch_records": "TestCollector",
	"environment.otel.max_buffered_records": "TestCollector", "runtime.metrics_listen": "TestCollector", "runtime.web": "TestLivePage",
	"runtime.api_host": "TestBusyAPI", "environment.api_server.port": "TestAPI", "environment.api_server.host": "TestAPI", "environment.api_server.cors_origins": "TestAPI",
	"environment.api_server.shutdown_timeout": "TestAPI", "environment.otel.request_timeout": "TestDeadCollector",
	"mlflow.tracking_uri": "TestTrackers", "mlflow.experiment": "TestTrackers", "mlflow.run_name": "TestTrackers", "mlflow.tags": "TestTrackers",
	"mlflow.parent_run_id": "TestTrackers", "mlflow.artifact_globs": "TestTrackers", "environment.mlflow.export_timeout": "TestTrackers",
	"wandb.project": "TestTrackers", "wandb.entity": "TestTrackers", "wandb.run_name": "TestTrackers", "wandb.tags": "TestTrackers",
	"environment.wandb.export_timeout": "TestTrackers",
	"scenario":                         "TestLocks (internal/run/rules)", "unsafe_override": "TestLocks (internal/run/rules)", "datasets.main.synthesis.allow_dataset_wrap": "TestLanes",
	"phases.profiling.timing_mode": "TestWiringOfReplays", "phases.profiling.burst_phase_starts": "TestWiringOfReplays",
	"phases.warmup.timing_mode": "TestWiringOfReplays", "phases.warmup.burst_phase_starts": "TestWiringOfReplays",
	"phases.profiling.adaptive_scale": "TestWiringOfAdaptivePhases", "phases.profiling.adaptive_control_variable": "TestWiringOfAdaptivePhases",
	"phases.profiling.adaptive_scale_step_policy": "TestWiringOfAdaptivePhases", "phases.profiling.adaptive_scale_strategy_type": "one choice",
	"phases.warmup.adaptive_scale": "TestWiringOfAdaptivePhases", "phases.warmup.adaptive_control_variable": "TestWiringOfAdaptivePhases",
	"phases.warmup.adaptive_scale_step_policy": "TestWiringOfAdaptivePhases", "phases.warmup.adaptive_scale_strategy_type": "one choice",
}

// refused begin the keys without a row that this build refuses, tells to be without effect, or has no use for.
var refused = []string{
	"gpu_telemetry.", "server_metrics.", "endpoint.template", "runtime.communication",
	"environment.gpu.", "environment.server_metrics.",
}

// base is a configuration in which most of what can be said is said; mode is how requests leave.
func base(mode config.PhaseType, dir string) *config.Benchmark {
	b := &config.Default().Benchmark
	b.Models.Items = []config.Model{{Name: "m"}, {Name: "n"}}
	b.Endpoint.URLs = []string{"http://one:1"}
	b.Endpoint.Path, b.Endpoint.Streaming, b.Endpoint.Probe = ptr("/p"), true, ptr(false)
	b.Endpoint.Headers, b.Endpoint.Extra = config.Headers{{Name: "A", Value: "b"}}, config.Extra{{Key: "k", Value: []byte("1")}}
	b.Tokenizer.Name = "builtin"
	b.SLOs = config.SLOs{{Tag: "request_latency", Threshold: 5}}
	b.Artifacts.Dir, b.Artifacts.Prefix, b.Artifacts.SliceDuration = dir, "x", seconds(2)
	b.Runtime.StatsInterval = seconds(5)
	d := b.Dataset()
	d.Entries, d.RandomSeed, d.SystemPromptFile = 4, ptr(config.Seed("7")), filepath.Join(dir, "system.txt")
	d.Prompts.ISL, d.Prompts.OSL, d.Turns, d.TurnDelay = config.Normal(20, 5), config.Normal(9, 3), config.Normal(3, 1), config.Normal(40, 20)
	d.PrefixPrompts = &config.PrefixPrompts{PoolSize: 2, Length: 6}
	ramp := func() *config.Ramp { return &config.Ramp{Duration: 2, Strategy: "linear"} }
	phase := config.Phase{
		Type: mode, Requests: ptr(9), Sessions: ptr(8), Duration: seconds(3), GracePeriod: seconds(4), Concurrency: ptr(4), ConcurrencyRamp: ramp(),
		PrefillConcurrency: ptr(2), PrefillRamp: ramp(), FailedRequestThreshold: ptr(0.5), Cancellation: &config.Cancellation{Rate: 10, Delay: 1},
	}
	switch mode {
	case config.PhaseGamma:
		phase.Rate, phase.Smoothness, phase.RateRamp = ptr(3.0), ptr(2.0), ramp()
	case config.PhasePoisson:
		phase.RateSeries = filepath.Join(dir, "series.json")
	case config.PhaseConstant:
		phase.RatePoints = []config.RatePoint{{TimeS: 0, QPS: 5}, {TimeS: 1, QPS: 9}}
	case config.PhaseUserCentric:
		phase.Rate, phase.Users = ptr(3.0), ptr(2)
	case config.PhaseFixedSchedule:
		phase.AutoOffset, phase.StartOffset, phase.EndOffset = ptr(false), ptr(int64(1)), ptr(int64(7000))
		d.Type, d.Path, d.Prompts, d.PrefixPrompts, d.Entries, d.OSL = config.DatasetFile, filepath.Join(dir, "trace.jsonl"), nil, nil, 2, config.Normal(5, 2)
		d.BlockSize, d.InterTurnDelayCap = 16, seconds(1)
		d.Synthesis = &config.Synthesis{
			SpeedupRatio: 2, PrefixLenMultiplier: 2, PrefixRootMultiplier: 2, PromptLenMultiplier: 2, OutputLenMultiplier: 2, MaxISL: ptr(500), MaxOSL: ptr(30),
		}
	}
	warm, measured := phase, phase
	warm.Name, warm.Kind, warm.ExcludeFromResults = "warmup", config.KindWarmup, true
	measured.Name, measured.Kind, measured.Seamless = "profiling", config.KindProfiling, true
	b.Phases = []config.Phase{warm, measured}
	return b
}

func ptr[T any](v T) *T { return &v }

func seconds(s config.Seconds) *config.Seconds { return &s }

// bases are the configurations that are changed leaf by leaf.
func bases(dir string) map[string]func() *config.Benchmark {
	list := map[string]func() *config.Benchmark{}
	for _, mode := range []config.PhaseType{config.PhaseGamma, config.PhasePoisson, config.PhaseUserCentric, config.PhaseFixedSchedule} {
		list[string(mode)] = func() *config.Benchmark { return base(mode, dir) }
	}
	list["text"] = func() *config.Benchmark {
		b := base(config.PhaseGamma, dir)
		d := b.Dataset()
		d.SystemPromptFile, d.RandomSeed = "", nil
		d.PrefixPrompts = &config.PrefixPrompts{SharedSystemLength: 5, UserContextLength: 6}
		d.Prompts.SequenceDistribution = []config.SequencePair{
			{ISL: *config.Normal(9, 1), OSL: *config.Normal(5, 1), Probability: 40}, {ISL: *config.Normal(30, 1), OSL: *config.Normal(6, 1), Probability: 60},
		}
		return b
	}
	list["random"] = func() *config.Benchmark {
		b := base(config.PhaseGamma, dir)
		p := b.Dataset().Prompts
		p.Corpus, p.RandomRangeRatio = "random", "0.3"
		return b
	}
	list["own text"] = func() *config.Benchmark {
		b := base(config.PhaseGamma, dir)
		b.Dataset().SystemPrompt, b.Dataset().SystemPromptFile = "words", ""
		return b
	}
	list["images"] = func() *config.Benchmark {
		b := base(config.PhaseGamma, dir)
		d := b.Dataset()
		d.Type, d.Path, d.Prompts, d.PrefixPrompts, d.Turns, d.TurnDelay = config.DatasetFile, filepath.Join(dir, "images.jsonl"), nil, nil, nil, nil
		return b
	}
	list["media"] = func() *config.Benchmark {
		b := base(config.PhaseGamma, dir)
		d := b.Dataset()
		d.Turns, d.TurnDelay, d.Prompts.ISL = nil, nil, config.Normal(0, 0)
		d.Images = &config.Images{BatchSize: 2, Width: config.Normal(12, 3), Height: config.Normal(9, 2), Format: "random", Source: "assets", SourceSampling: "sequential-cycle"}
		d.Audio = &config.Audio{BatchSize: 1, Length: config.Normal(0.05, 0.01), Format: "wav", SampleRates: []float64{8}, Depths: []int{8}, Channels: 1}
		d.Video = &config.Video{BatchSize: 1, Duration: 1, FPS: 2, Width: ptr(32), Height: ptr(32), Format: "mp4", Codec: "libx264", SynthType: "noise"}
		return b
	}
	list["rankings"] = func() *config.Benchmark {
		b := base(config.PhaseGamma, dir)
		b.Endpoint.Type, b.Endpoint.Streaming, b.Endpoint.Path = "nim_rankings", false, nil
		d := b.Dataset()
		d.SystemPromptFile, d.PrefixPrompts, d.Turns, d.TurnDelay = "", nil, nil, nil
		d.Rankings = &config.Rankings{Passages: config.Normal(3, 1), PassageTokens: config.Normal(9, 2), QueryTokens: config.Normal(8, 2)}
		return b
	}
	return list
}

// view returns what the packages below receive of a configuration, as text: their options, the first requests, the files that are opened. An error is
// part of it. The requests, which take long to make, are omitted unless data is set.
func optionsText(b *config.Benchmark, words *tokenizer.Tokenizer, data bool) string {
	var text strings.Builder
	say := func(name string, v any) {
		data, err := json.Marshal(v)
		fmt.Fprintln(&text, name, string(data), err)
	}
	var r runPlan
	var err error
	if r.endpoint, _, err = endpoint.Lookup(b.Endpoint.Type); err != nil {
		return err.Error()
	}
	say("endpoint", r.endpoint.Name)
	connections := connection.Options(b, nil)
	fmt.Fprintf(&text, "transport %+v\n", connections) // functions are nil
	say("headers", connection.Headers(b, "v"))
	say("metrics", results.MetricOptions(b, r.endpoint))
	say("exact", waiter(b) == nil)
	fmt.Fprintf(&text, "readiness %+v\n", preflight.WaitLimitsOf(b))
	fmt.Fprintf(&text, "layout %+v\n", artifact.NewLayout(b.Artifacts.Dir, b.Artifacts.Prefix))
	say("records", []bool{len(b.Artifacts.Records) > 0, b.Artifacts.Raw})
	r.scenario, err = scenario(b)
	say("scenario", []any{r.scenario, fmt.Sprint(err)})
	if r.metrics, err = metric.NewSelection(results.MetricOptions(b, r.endpoint)); err != nil {
		return text.String() + err.Error()
	}
	say("codec", results.CodecSettings(b, r.metrics.Options().Streaming))
	to, err := connection.NewAddresses(b.Endpoint.URLs, b, r.endpoint)
	if err == nil {
		say("addresses", to.Full)
	}
	say("tokenizer", []any{b.Tokenizer.Name, b.Tokenizer.Revision, results.Templated(b, r.endpoint), results.Counts(b, r.endpoint)})
	say("recordings", []any{inputs.AgentOptions(b, b.Dataset()), inputs.JoinOptions(b), inputs.ColumnOptions(b, b.Dataset()), inputs.PublicOptions(b, b.Dataset(), public.Options{}).Repo})
	if !data {
		return text.String()
	}
	set, err := inputs.OpenDataset(context.Background(), "a/1", b, r.endpoint, inputs.RandomRoot(b, root(ptr(config.Seed("3")))), func() (*tokenizer.Tokenizer, error) { return words, nil }, nil)
	if err != nil {
		return text.String() + err.Error()
	}
	say("info", set.Info())
	for i := range min(4, set.Len()) {
		c := set.Conversation(i)
		say("conversation", []any{set.Len(), set.Timings(i), c})
		for _, t := range c.Turns {
			for _, p := range t.Parts {
				if p.Blob != nil && p.Blob.Inline() {
					content, err := p.Blob.Bytes()
					say("content", []any{p.Blob.MediaType(), sha256.Sum256(content), fmt.Sprint(err)})
				}
			}
		}
	}
	return text.String()
}

// leaf is one value of a configuration.
type leaf struct {
	key   string
	value reflect.Value
}

// leavesOf lists the values below v that can be changed one by one; what is nil has none.
func leavesOf(v reflect.Value, key string) []leaf {
	name := func(part string) string { return strings.TrimPrefix(key+"."+part, ".") }
	switch {
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil
	case v.Kind() == reflect.Pointer:
		return leavesOf(v.Elem(), key)
	case v.Type() == reflect.TypeFor[yaml.Node](): // rows of an inline file are data, no setting
		return nil
	case v.Kind() == reflect.Struct:
		var all []leaf
		for i := range v.NumField() {
			f := v.Type().Field(i)
			part, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if part == "-" || !f.IsExported() { // what a file cannot set
				continue
			}
			if part == "" {
				part = strings.ToLower(f.Name)
			}
			if one, ok := v.Field(i).Interface().([]config.Phase); ok {
				for j := range one {
					all = append(all, leavesOf(v.Field(i).Index(j), name("phases."+one[j].Name))...)
				}
				continue
			}
			if part == "datasets" {
				part += ".main"
			}
			all = append(all, leavesOf(v.Field(i), name(part))...)
		}
		return all
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		if v.Len() == 0 {
			return nil
		}
		return leavesOf(v.Index(0), key)
	}
	return []leaf{{key, v}}
}

// change gives a leaf another value that is as good.
func change(l leaf) {
	choices := []string{}
	for _, row := range config.RowsOf(strings.Replace(l.key, "phases.warmup", "phases.profiling", 1)) {
		choices = append(choices, row.Choices...)
	}
	switch v := l.value; v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int()*2 + 1)
	case reflect.Float64:
		v.SetFloat(v.Float()*2 + 1)
	case reflect.String:
		i := slices.IndexFunc(choices, func(c string) bool { return c != v.String() })
		switch {
		case strings.HasSuffix(l.key, ".strategy") && strings.HasPrefix(l.key, "phases."):
			v.SetString("exponential")
		case strings.HasSuffix(l.key, ".kind"):
			v.SetString(map[string]string{"warmup": "profiling", "profiling": "warmup"}[v.String()])
		case l.key == "endpoint.type":
			v.SetString("completions")
		case strings.HasSuffix(l.key, ".random_seed"):
			v.SetString(v.String() + "1")
		case i >= 0:
			v.SetString(choices[i])
		default:
			v.SetString(v.String() + "y")
		}
	case reflect.Slice:
		switch v.Interface().(type) {
		case config.Formats:
			v.SetZero()
		case []int:
			v.Set(reflect.ValueOf([]int{24}))
		case []float64:
			v.Set(reflect.ValueOf([]float64{22.05}))
		case []string:
			text := "http://two:2"
			if l.key == "endpoint.local_addresses" {
				text = "127.0.0.2"
			}
			v.Set(reflect.Append(v, reflect.ValueOf(text)))
		default: // JSON text of an extra input
			v.Set(reflect.ValueOf(json.RawMessage("2")))
		}
	}
}

// TestEveryLeafHasAnEffect: every value of the configuration that this build follows, changed alone, changes what some package receives.
func TestEveryLeafHasAnEffect(t *testing.T) {
	testhome.Slow(t)
	dir := t.TempDir()
	t.Setenv("PATH", dir) // no ffmpeg: clips are made here, and at once
	for name, text := range map[string]string{
		"system.txt": "a", "system.txty": "b", "series.json": `[{"time_s":0,"qps":1}]`, "series.jsony": `[{"time_s":0,"qps":2}]`,
		"images.jsonl": imageRows, "images.jsonly": imageRows,
		"trace.jsonl": traceRows, "trace.jsonly": strings.ReplaceAll(traceRows, "90", "95"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	words, err := tokenizer.Open(context.Background(), "builtin", tokenizer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen, all := map[string]bool{}, map[string]bool{}
	for name, open := range bases(dir) {
		before := map[bool]string{true: optionsText(open(), words, true), false: optionsText(open(), words, false)}
		if optionsText(open(), words, true) != before[true] || !strings.Contains(before[true], "\nconversation ") {
			t.Fatalf("%s: a text is not whole, or two differ:\n%s", name, before[true])
		}
		for i, l := range leavesOf(reflect.ValueOf(open()).Elem(), "") {
			all[l.key] = true
			if seen[l.key] || elsewhere[l.key] != "" || isRefused(l.key) {
				continue
			}
			b := open()
			change(leavesOf(reflect.ValueOf(b).Elem(), "")[i])
			data := strings.HasPrefix(l.key, "datasets.") || strings.HasPrefix(l.key, "models.") || strings.HasSuffix(l.key, "_offset") || l.key == "endpoint.uuid_and_strip"
			seen[l.key] = optionsText(b, words, data) != before[data]
		}
	}
	for key := range all {
		if !seen[key] && elsewhere[key] == "" && !isRefused(key) {
			t.Errorf("%s: changed alone, no package is told anything else", key)
		}
	}
	for key := range elsewhere {
		if !all[key] {
			t.Errorf("%s is no leaf of any base", key)
		}
	}
	t.Logf("%d leaves, %d seen in options, %d elsewhere", len(all), len(seen), len(elsewhere))
}

const imageRows = `{"session_id":"s","images":["http://h/a.png"],"image_uuids":["u"]}
{"session_id":"s","images":["http://h/a.png"],"image_uuids":["u"]}
`

const traceRows = `{"timestamp":1,"session_id":"a","input_length":90,"hash_ids":[1,2,3,4,5,6]}
{"session_id":"a","delay":4000,"input_length":90,"hash_ids":[1,2,3,4,5,6]}
{"timestamp":3000,"session_id":"b","input_length":90,"output_length":6,"hash_ids":[1,2,3,7,8,9]}
{"timestamp":5000,"session_id":"c","input_length":400,"output_length":20,"hash_ids":[1,2,3,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28]}
{"timestamp":9000,"session_id":"d","input_length":60,"output_length":4,"hash_ids":[1,2,3,4]}
`

// isRefused tells that no setting of a key is followed by this build; package cli refuses those or says that they have no effect.
func isRefused(key string) bool {
	rows := config.RowsOf(key)
	dead := func(row setting.Row) bool { return row.NotBuilt || row.NoEffect != "" }
	return len(rows) > 0 && !slices.ContainsFunc(rows, func(row setting.Row) bool { return !dead(row) }) ||
		slices.ContainsFunc(refused, func(head string) bool { return strings.HasPrefix(key, head) })
}
