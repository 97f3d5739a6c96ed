//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/testhome"
)

// asked is one request as the server got it.
type asked struct {
	at     time.Time
	path   string
	remote string
	header http.Header
	raw    string
	body   struct {
		Model      string
		Messages   []message
		Input      []string
		Passages   []json.RawMessage
		Stream     bool
		MaxTokens  int `json:"max_tokens"`
		Completion int `json:"max_completion_tokens"`
		Extra      int `json:"extra"`
	}
}

type message struct {
	Role    string
	Content json.RawMessage
}

// listener answers every request at once and remembers it.
type listener struct {
	*httptest.Server
	mu     sync.Mutex
	list   []asked
	status int // 0 = 200
}

func listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewServer(withoutMetrics(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		a := asked{at: time.Now(), path: r.URL.Path, remote: r.RemoteAddr, header: r.Header, raw: string(text)}
		if err := json.Unmarshal(text, &a.body); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		l.mu.Lock()
		l.list = append(l.list, a)
		status := l.status
		l.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if status != 0 {
			w.WriteHeader(status)
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "embeddings"):
			io.WriteString(w, `{"data":[{"object":"embedding","embedding":[0.5]}],"usage":{"prompt_tokens":4}}`)
		case strings.HasSuffix(r.URL.Path, "ranking"):
			io.WriteString(w, `{"rankings":[{"index":0,"logit":1.5}]}`)
		default:
			io.WriteString(w, strings.Replace(answer, `"completion_tokens":3`, `"completion_tokens":70`, 1))
		}
	}))
	t.Cleanup(l.Close)
	return l
}

// different is the number of different values that requests have.
func different(list []asked, of func(*asked) string) int {
	seen := map[string]bool{}
	for i := range list {
		seen[of(&list[i])] = true
	}
	return len(seen)
}

func remote(a *asked) string { return a.remote }
func raw(a *asked) string    { return a.raw }

// outcome is a run with what the server saw of it.
type outcome struct {
	*process
	status int
	asked  []asked
}

func (o *outcome) file(name string) string {
	text, err := os.ReadFile(filepath.Join(o.dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}

func (o *outcome) role(i int) string {
	if m := o.asked[i].body.Messages; len(m) > 0 {
		return m[0].Role
	}
	return ""
}

const (
	rows  = `{"text":"one"}` + "\n" + `{"text":"two"}` + "\n" + `{"text":"three"}` + "\n"
	turns = `{"turns":[{"text":"1"},{"text":"2","delay":60000}]}` + "\n"
	trace = `{"input_length":20,"output_length":4,"hash_ids":[1]}` + "\n" + `{"input_length":40,"output_length":6,"hash_ids":[1,2]}` + "\n"
)

// TestFlagsReachTheRun: every setting is made with a real process, and its effect is seen by the server or in the files.
func TestFlagsReachTheRun(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, c := range []struct {
		name   string
		args   string // blanks separate; the first three requests, one at a time, unless it says otherwise
		env    string
		file   string // content of in.jsonl, which is given as input
		named  bool   // the server is on IPv4 alone and called localhost
		status int    // HTTP status of every answer
		exit   int
		holds  func(*outcome) bool
	}{
		{name: "session-header", args: "--session-header X-Sid", holds: func(o *outcome) bool { return o.asked[0].header.Get("X-Sid") != "" }},
		{name: "endpoint", args: "--custom-endpoint v9/talk", holds: func(o *outcome) bool { return o.asked[0].path == "/v9/talk" }},
		{name: "header and key", args: "-H X-A:b --api-key k", holds: func(o *outcome) bool {
			return o.asked[0].header.Get("X-A") == "b" && o.asked[0].header.Get("Authorization") == "Bearer k"
		}},
		{name: "pooled", args: "", holds: func(o *outcome) bool { return different(o.asked, remote) == 1 }},
		{name: "never", args: "--connection-reuse-strategy never", holds: func(o *outcome) bool { return different(o.asked, remote) == 3 }},
		{name: "sticky", args: "--connection-reuse-strategy sticky-user-sessions --session-turns-mean 2 --request-count 4",
			holds: func(o *outcome) bool { return len(o.asked) == 4 && different(o.asked, remote) == 2 }},
		{name: "force close", env: "AIPERF_HTTP_FORCE_CLOSE=true", holds: func(o *outcome) bool { return different(o.asked, remote) == 3 }},
		{name: "request-count", args: "--request-count 5", holds: func(o *outcome) bool { return len(o.asked) == 5 }},
		{name: "num-sessions", args: "--num-sessions 2 --session-turns-mean 3", holds: func(o *outcome) bool { return len(o.asked) == 6 }},
		{name: "warm-up", args: "--warmup-request-count 2", holds: func(o *outcome) bool { return len(o.asked) == 5 && len(o.records()) == 5 }},
		{name: "models in turn", args: "-m a b --request-count 4", holds: func(o *outcome) bool { return models(o) == "abab" }},
		{name: "models at random", args: "-m a b --model-selection-strategy random --request-count 12 --num-dataset-entries 12 --random-seed 1",
			holds: func(o *outcome) bool {
				m := models(o)
				return m != strings.Repeat("ab", 6) && strings.Contains(m, "a") && strings.Contains(m, "b")
			}},
		{name: "seed", args: "--random-seed 3 --num-profile-runs 2", holds: func(o *outcome) bool { return len(o.asked) == 6 && different(o.asked, raw) == 3 }},
		{name: "seeds of trials", args: "--random-seed 3 --num-profile-runs 2 --vary-seed-per-trial", holds: func(o *outcome) bool { return different(o.asked, raw) == 6 }},
		{name: "cool-down", args: "--num-profile-runs 2 --profile-run-cooldown-seconds 0.4", holds: func(o *outcome) bool { return o.asked[3].at.Sub(o.asked[2].at) >= 400*time.Millisecond }},
		{name: "sweep cool-down", args: "--concurrency 1,2 --parameter-sweep-cooldown-seconds 0.4", holds: func(o *outcome) bool { return o.asked[3].at.Sub(o.asked[2].at) >= 400*time.Millisecond }},
		{name: "sweep table", args: "--concurrency 1,2", holds: func(o *outcome) bool { return strings.Contains(o.stdout.String(), "Sweep: 2 cells") }},
		{name: "no sweep table", args: "--concurrency 1,2 --no-sweep-table", holds: func(o *outcome) bool { return !strings.Contains(o.stdout.String(), "Sweep: 2 cells") }},
		{name: "warm-up of the first run", args: "--num-profile-runs 2 --warmup-request-count 2", holds: func(o *outcome) bool { return len(o.asked) == 8 }},
		{name: "warm-up of every run", args: "--num-profile-runs 2 --warmup-request-count 2 --no-profile-run-disable-warmup-after-first", holds: func(o *outcome) bool { return len(o.asked) == 10 }},
		{name: "system prompt", args: "--system-prompt Outer.", holds: func(o *outcome) bool {
			return o.role(0) == "system" && string(o.asked[0].body.Messages[0].Content) == `"Outer."`
		}},
		{name: "shared system prompt", args: "--shared-system-prompt-length 4", holds: func(o *outcome) bool { return o.role(0) == "system" }},
		{name: "content parts", env: "AIPERF_ENDPOINT_FORCE_CONTENT_PARTS=true", holds: func(o *outcome) bool { return o.asked[0].body.Messages[0].Content[0] == '[' }},
		{name: "headers of sessions", env: "AIPERF_HTTP_X_SESSION_ID_FROM_CORRELATION_ID=true AIPERF_HTTP_X_SMG_ROUTING_KEY_FROM_CORRELATION_ID=true AIPERF_HTTP_X_DYNAMO_SESSION_ID_FROM_CORRELATION_ID=true",
			holds: func(o *outcome) bool {
				h := o.asked[0].header
				return h.Get("X-Session-ID") != "" && h.Get("X-SMG-Routing-Key") != "" && h.Get("X-Dynamo-Session-ID") != "" && h.Get("X-Session-Affinity") != ""
			}},
		{name: "no affinity", env: "AIPERF_HTTP_X_SESSION_AFFINITY_FROM_CORRELATION_ID=false", holds: func(o *outcome) bool { return o.asked[0].header.Get("X-Session-Affinity") == "" }},
		{name: "IPv4 only", named: true, holds: func(o *outcome) bool { return len(o.asked) == 3 }},
		{name: "IPv6 only", named: true, env: "AIPERF_HTTP_IP_VERSION=6", exit: 1, holds: func(o *outcome) bool { return len(o.asked) == 0 }},
		{name: "osl", args: "--osl 9", holds: func(o *outcome) bool { return o.asked[0].body.Completion == 9 && o.asked[0].body.MaxTokens == 0 }},
		{name: "legacy osl", args: "--osl 9 --use-legacy-max-tokens", holds: func(o *outcome) bool { return o.asked[0].body.MaxTokens == 9 }},
		{name: "isl", args: "--isl 90", holds: func(o *outcome) bool { return o.records()[0].number(t, "input_sequence_length") == 90 }},
		{name: "extra", args: "--extra-inputs extra:7", holds: func(o *outcome) bool { return o.asked[0].body.Extra == 7 }},
		{name: "server's counts", args: "--use-server-token-count", holds: func(o *outcome) bool { return o.records()[0].number(t, "output_sequence_length") == 70 }},
		{name: "batch", args: "--endpoint-type embeddings --batch-size-text 3", holds: func(o *outcome) bool { return len(o.asked[0].body.Input) == 3 }},
		{name: "passages", args: "--endpoint-type nim_rankings --rankings-passages-mean 4", holds: func(o *outcome) bool { return len(o.asked[0].body.Passages) == 4 }},
		{name: "entries", args: "--num-dataset-entries 2 --request-count 6", holds: func(o *outcome) bool { return different(o.asked, raw) == 2 }},
		{name: "entries of a file", args: "--num-dataset-entries 1", file: rows, holds: func(o *outcome) bool { return different(o.asked, raw) == 3 }},
		{name: "shuffled", args: "--dataset-sampling-strategy shuffle --random-seed 2 --request-count 6", file: rows, holds: func(o *outcome) bool {
			return different(o.asked[:3], raw) == 3 && (o.asked[0].raw != o.asked[3].raw || o.asked[1].raw != o.asked[4].raw || !strings.Contains(o.asked[0].raw, "one"))
		}},
		{name: "cap of pauses", args: "--inter-turn-delay-cap-seconds 0.2 --request-count 2", file: turns, holds: func(o *outcome) bool {
			gap := o.asked[1].at.Sub(o.asked[0].at)
			return gap >= 200*time.Millisecond && gap < 59*time.Second
		}},
		{name: "ratio of pauses", args: "--session-delay-ratio 0.004 --request-count 2", file: turns, holds: func(o *outcome) bool {
			gap := o.asked[1].at.Sub(o.asked[0].at)
			return gap >= 200*time.Millisecond && gap < 59*time.Second
		}},
		{name: "output lengths of a trace", args: "--synthesis-output-len-multiplier 3 --synthesis-max-osl 15 --isl-block-size 20 --request-count 2", file: trace,
			holds: func(o *outcome) bool { return o.asked[0].body.Completion == 12 && o.asked[1].body.Completion == 15 }},
		{name: "input lengths of a trace", args: "--synthesis-prefix-len-multiplier 2 --isl-block-size 20 --request-count 2", file: trace,
			holds: func(o *outcome) bool { return o.counted("input_sequence_length", 40) }},
		{name: "rest of prompts of a trace", args: "--synthesis-prompt-len-multiplier 2 --isl-block-size 20 --request-count 2", file: trace,
			holds: func(o *outcome) bool { return o.counted("input_sequence_length", 60) }},
		{name: "longest input of a trace", args: "--synthesis-max-isl 30 --isl-block-size 20 --request-count 2", file: trace,
			holds: func(o *outcome) bool { return different(o.asked, raw) == 1 }},
		{name: "trace of HTTP", args: "--export-http-trace", holds: func(o *outcome) bool { return strings.Contains(o.file("profile_export.jsonl"), "trace_data") }},
		{name: "no trace of HTTP", holds: func(o *outcome) bool { return !strings.Contains(o.file("profile_export.jsonl"), "trace_data") }},
		{name: "table of HTTP", args: "--show-trace-timing", holds: func(o *outcome) bool { return strings.Contains(o.stdout.String(), "HTTP Trace Timing") }},
		{name: "summary only", args: "--export-level summary", holds: func(o *outcome) bool { return o.file("profile_export.jsonl") == "" }},
		{name: "raw", args: "--export-level raw", holds: func(o *outcome) bool { return o.file("profile_export_raw.jsonl") != "" }},
		{name: "prefix", args: "--profile-export-prefix foo", holds: func(o *outcome) bool { return o.file("foo.json") != "" && o.file("foo.jsonl") != "" }},
		{name: "slices", args: "--slice-duration 0.05", holds: func(o *outcome) bool { return o.file("profile_export_aiperf_timeslices.json") != "" }},
		{name: "goodput", args: "--goodput request_latency:0.000001", holds: func(o *outcome) bool {
			return strings.Contains(o.file("profile_export_aiperf.json"), `"good_request_count"`)
		}},
		{name: "threshold of failures", args: "--failed-request-threshold 0.1 --request-count 500", status: 500, exit: 1, holds: func(o *outcome) bool {
			return len(o.asked) < 500 && strings.Contains(o.stderr.String(), "more than --failed-request-threshold allows")
		}},
		{name: "log", holds: func(o *outcome) bool { return !strings.Contains(o.file("logs/aiperf.log"), "msg=request") }},
		{name: "debug log", args: "-v", holds: func(o *outcome) bool {
			return strings.Count(o.file("logs/aiperf.log"), "msg=request ") == 3 && !strings.Contains(o.file("logs/aiperf.log"), "read_delay_ns")
		}},
		{name: "trace log", args: "--log-level trace", holds: func(o *outcome) bool { return strings.Count(o.file("logs/aiperf.log"), "read_delay_ns") == 3 }},
		{name: "statistics", args: "--stats-interval 0.1 --request-count 5 --request-rate 10 --request-rate-mode constant",
			holds: func(o *outcome) bool {
				return strings.Contains(o.stderr.String(), "in flight") && strings.Contains(o.file("logs/aiperf.log"), "in flight")
			}},
		{name: "no statistics", args: "--ui simple --stats-interval 0 --request-count 5 --request-rate 10 --request-rate-mode constant",
			holds: func(o *outcome) bool { return !strings.Contains(o.stderr.String(), "in flight") }},
		{name: "quiet", args: "--log-level error -H User-Agent:mine", holds: func(o *outcome) bool { return o.stderr.String() == "" }},
		{name: "width", env: "AIPERF_UI_CONSOLE_EXPORT_WIDTH=170", holds: func(o *outcome) bool { return widest(o.file("profile_export_console.txt")) > 140 }},
		{name: "plain timer", env: "AIPERF_TIMING_HIGH_RES_TIMER=false", args: "--request-rate 50", holds: func(o *outcome) bool { return len(o.asked) == 3 }},
		{name: "mismatch", env: "AIPERF_METRICS_OSL_MISMATCH_PCT_THRESHOLD=100 AIPERF_METRICS_OSL_MISMATCH_MAX_TOKEN_THRESHOLD=100000", args: "--osl 90", holds: func(o *outcome) bool {
			return o.records()[0].Metrics["osl_mismatch_count"].Value == nil && o.summary().avg(t, "osl_mismatch_count") == 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := listen(t)
			server.status = c.status
			url := server.URL
			if c.named {
				url = strings.Replace(url, "127.0.0.1", "localhost", 1)
			}
			args := []string{"--url", url, "--tokenizer", "builtin"}
			for _, d := range [][2]string{{"-m", "m"}, {"--isl", "8"}, {"--request-count", "3"}, {"--num-dataset-entries", "20"}} {
				given := strings.Contains(" "+c.args, " "+d[0]+" ") || c.file != "" && d[0] != "-m" && d[0] != "--request-count" ||
					d[0] == "--request-count" && strings.Contains(c.args, "--num-sessions")
				if !given {
					args = append(args, d[0], d[1])
				}
			}
			if c.file != "" {
				path := filepath.Join(t.TempDir(), "in.jsonl")
				if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--input-file", path)
			}
			o := &outcome{process: program(t, append(args, strings.Fields(c.args)...)...)}
			o.cmd.Env = append(o.cmd.Env, strings.Fields(c.env)...)
			o.status = o.run()
			server.mu.Lock()
			o.asked = server.list
			server.mu.Unlock()
			if o.status != c.exit || c.exit == 0 && len(o.asked) == 0 || !c.holds(o) {
				t.Errorf("exit status %d, want %d; %d requests, the first %.300s\n%s", o.status, c.exit, len(o.asked), first(o.asked), o.stderr.String())
			}
		})
	}
}

func first(list []asked) string {
	if len(list) == 0 {
		return "none"
	}
	return list[0].raw
}

// models are the models of all requests in order.
func models(o *outcome) string {
	var b strings.Builder
	for i := range o.asked {
		b.WriteString(o.asked[i].body.Model)
	}
	return b.String()
}

// widest is the length of the longest line in characters.
func widest(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n = max(n, utf8.RuneCountInString(strings.TrimRight(line, " \n")))
	}
	return n
}
