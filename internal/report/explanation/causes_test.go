package explanation

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/sim/batching"
)

// full runs as many repeats as the published table (make acceptance).
var full = flag.Bool("full", false, "all repeats of the acceptance of explanations")

// simulated is a simulated request with what its record says.
type simulated struct {
	batching.Request
	url        int
	retransmit int
}

// cause is a simulated run whose slow requests have a known cause.
type cause struct {
	name    string
	metric  string
	servers []batching.Options
	lossy   float64  // share of the requests that lose a segment
	right   []string // facts of which one must be first; nil = nothing may be significant
}

// plainServer is a server at low load whose requests are slow only by outliers that nothing explains.
func plainServer() batching.Options {
	o := batching.Default()
	o.Rate, o.Seconds, o.Sample, o.Drift, o.Stall = 25, 100, 0.25, 0.01, 0
	o.Outlier, o.OutlierMean = 0, 0
	return o
}

func causes() []cause {
	with := func(change func(o *batching.Options)) []batching.Options {
		o := plainServer()
		change(&o)
		return []batching.Options{o}
	}
	third := func(slow float64) batching.Options {
		o := plainServer()
		o.Rate, o.Base, o.Slow, o.InputSigma = o.Rate/3, 20, slow, 0.3
		return o
	}
	return []cause{
		{"queue", "", with(func(o *batching.Options) {
			o.Slots, o.Rate, o.Burst, o.BurstPart, o.BurstEvery, o.Seconds = 16, 17, 3, 0.15, 2.5, 200
		}), 0, []string{"vllm:num_requests_waiting", "requests_in_prefill", "prefill_tokens_ahead", "requests_in_flight"}},
		{"long prompts", "", with(func(o *batching.Options) {
			o.LongShare, o.LongTimes, o.Rate, o.Seconds, o.Budget, o.InputSigma = 0.03, 15, 6, 400, 1e5, 0.3
		}), 0, []string{"input_sequence_length"}},
		{"cold cache", "", with(func(o *batching.Options) {
			o.HitShare, o.InputMu, o.InputSigma, o.Budget, o.Rate = 0.96, 7.6, 0.2, 8192, 15
		}), 0, []string{"usage_prompt_cache_read_tokens", "uncached_input_tokens"}},
		{"one slow replica", "", []batching.Options{third(1), third(1), third(2)}, 0, []string{"server=http://server2:8000"}},
		{"pauses", "", with(func(o *batching.Options) { o.PauseEvery, o.PauseLength, o.Seconds = 6, 500, 200 }), 0, []string{"pause"}},
		{"preemption", "inter_token_latency", with(func(o *batching.Options) {
			o.KV, o.OutputMean, o.Rate, o.PerSequence, o.PerToken, o.InputMu, o.InputSigma, o.White, o.Seconds = 12000, 150, 9.5, 0, 0.002, 6.5, 0.3, 0.02, 200
		}), 0, []string{"vllm:num_preemptions_total", "vllm:kv_cache_usage_perc"}},
		{"lossy link", "", with(func(*batching.Options) {}), 0.03, []string{"tcp_retransmits"}},
		{"none", "", with(func(o *batching.Options) { o.Outlier, o.OutlierMean = 0.02, 400 }), 0, nil},
	}
}

// run simulates the cause and writes the files of the run.
func (c *cause) run(t *testing.T, dir string, seed uint64) *runfiles.Run {
	t.Helper()
	var all []simulated
	var samples bytes.Buffer
	r := rand.New(rand.NewPCG(seed, 77))
	var urls []string
	for n, o := range c.servers {
		list, gauges := batching.Observe(seed*16+uint64(n), o)
		url := fmt.Sprintf("http://server%d:8000", n)
		urls = append(urls, `"`+url+`"`)
		for _, q := range batching.After(list, batching.Warm) {
			s := simulated{Request: q, url: n}
			if r.Float64() < c.lossy {
				s.retransmit = 1 + r.IntN(2)
				late := 0.2 * (math.Exp2(float64(s.retransmit)) - 1)
				s.TTFT, s.Latency, s.End = s.TTFT+1000*late, s.Latency+1000*late, s.End+late
				for k := range s.Arrivals {
					s.Arrivals[k] += late
				}
			}
			all = append(all, s)
		}
		for _, g := range gauges {
			fmt.Fprintf(&samples, `{"endpoint_url":"%s/metrics","timestamp_ns":%d,"metrics":{"vllm:num_requests_waiting":[{"value":%g}],"vllm:num_requests_running":[{"value":%g}],"vllm:kv_cache_usage_perc":[{"value":%g}],"vllm:num_preemptions_total":[{"value":%g}]}}`+"\n",
				url, instant(g.At), g.Waiting, g.Running, g.KV, g.Preemptions)
		}
	}
	slices.SortStableFunc(all, func(a, b simulated) int { return cmp.Compare(a.Start, b.Start) })
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("profile_export.jsonl", recordLines(all, r))
	write("server_metrics_export.jsonl", samples.Bytes())
	write("gpu_telemetry_export.jsonl", gpuLines(r))
	write("profile_export_aiperf.json", []byte(`{"input_config":{"endpoint":{"urls":[`+strings.Join(urls, ",")+`]}}}`))
	return runfiles.Open(dir)
}

// instant converts s of the simulation to wall clock ns.
func instant(s float64) int64 { return 1_700_000_000_000_000_000 + int64(s*1e9) }

// recordLines are the records, with facts that have nothing to do with slowness: turns, connections, round-trip times.
func recordLines(all []simulated, r *rand.Rand) []byte {
	var b bytes.Buffer
	rtt := 0.0
	for i, q := range all {
		rtt = 0.98*rtt + 0.2*r.NormFloat64()
		fmt.Fprintf(&b, `{"metadata":{"x_request_id":"r%d","x_correlation_id":"s%d","turn_index":%d,"url_index":%d,"request_start_ns":%d,"request_end_ns":%d,"benchmark_phase":"profiling","was_cancelled":false},"metrics":{`,
			i, i/4, r.IntN(4), q.url, instant(q.Start), instant(q.End))
		value := func(tag string, v float64) { fmt.Fprintf(&b, `"%s":{"value":%.9g,"unit":"x"},`, tag, v) }
		value("time_to_first_token", q.TTFT)
		value("request_latency", q.Latency)
		if len(q.Arrivals) > 1 {
			value("inter_token_latency", q.ITL)
			b.WriteString(`"inter_chunk_latency":{"value":[`)
			for k := 1; k < len(q.Arrivals); k++ {
				if k > 1 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, "%.6g", 1000*(q.Arrivals[k]-q.Arrivals[k-1]))
			}
			b.WriteString(`],"unit":"ms"},`)
		}
		value("input_sequence_length", math.Round(q.Input))
		value("output_sequence_length", q.Tokens)
		value("usage_prompt_tokens", math.Round(q.Input))
		value("usage_prompt_cache_read_tokens", q.Cached)
		value("http_req_connection_reused", float64(min(1, r.IntN(20))))
		value("http_req_chunks_received", math.Max(1, math.Round(q.Tokens*(1-0.1*r.Float64()))))
		value("tcp_retransmits", float64(q.retransmit))
		value("tcp_out_of_order", float64(r.IntN(50)/49))
		value("tcp_smoothed_rtt", 2+math.Abs(rtt))
		fmt.Fprintf(&b, `"read_delay_max":{"value":%.6g,"unit":"ms"}},"finish_reason":"%s"}`+"\n", 0.05*r.ExpFloat64(), []string{"stop", "length"}[r.IntN(2)])
	}
	return b.Bytes()
}

// gpuLines are samples of a GPU whose state has nothing to do with slowness.
func gpuLines(r *rand.Rand) []byte {
	var b bytes.Buffer
	clock, power := 0.0, 0.0
	for k := range 360 {
		clock, power = 0.95*clock+r.NormFloat64(), 0.9*power+r.NormFloat64()
		fmt.Fprintf(&b, `{"timestamp_ns":%d,"gpu_index":0,"telemetry_source_url":"u","telemetry_data":{"nvidia_sm_clock":%.5g,"nvidia_power_usage":%.5g,"nvidia_temperature":%.4g}}`+"\n", instant(float64(k)/3), 1700+20*clock, 400+20*power, 60+clock+power)
	}
	return b.Bytes()
}

// TestKnownCauses: the right cause is first in at least 95 % of the simulated runs, and without a cause at most 5 % of them name anything.
func TestKnownCauses(t *testing.T) {
	testhome.Slow(t)
	runs, enough := 10, 0.9
	if *full {
		runs, enough = 200, 0.95
	}
	for _, c := range causes() {
		t.Run(c.name, func(t *testing.T) {
			first := map[string]int{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			slots := make(chan struct{}, 2)
			for k := range runs {
				dir := t.TempDir()
				wg.Go(func() {
					slots <- struct{}{}
					defer func() { <-slots }()
					e, err := Explain(c.run(t, dir, uint64(k+1)), Options{Metric: c.metric})
					if err != nil {
						t.Error(err)
						return
					}
					name := "nothing"
					if list := e.Named(); len(list) > 0 {
						name = list[0].Name
					}
					mu.Lock()
					defer mu.Unlock()
					first[name]++
					if err := os.RemoveAll(dir); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			right := 0 // runs whose first fact is the cause
			for _, name := range c.right {
				right += first[name]
			}
			if c.right == nil {
				right = first["nothing"]
			}
			t.Logf("%s: right in %d of %d; first: %v", c.name, right, runs, first)
			if float64(right) < enough*float64(runs) {
				t.Errorf("%s: right in %d of %d; first: %v", c.name, right, runs, first)
			}
		})
	}
}

func TestMain(m *testing.M) { os.Exit(testhome.Run(m)) }
