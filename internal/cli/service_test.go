package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/config"
)

// TestService: the two services that are processes start what their names say, the others say where they went.
func TestService(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.yaml")
	text := "benchmark:\n  model: q\n  endpoint: {url: h}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n  phases: {type: concurrency, requests: 3}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"worker":                        "tcp://127.0.0.1:1 secret-of-16-chars ",
		"worker --service-id w7":        "tcp://127.0.0.1:1 secret-of-16-chars w7",
		"--type worker --service-id w7": "tcp://127.0.0.1:1 secret-of-16-chars w7",
		"system_controller " + file + " --health-port 8123":               "3 requests 8123",
		"system_controller --benchmark-run " + file:                       "3 requests 0",
		"worker --api-port 1":                                             "!--api-port: a worker has no results",
		"system_controller " + file + " --keep-results 9":                 "!--keep-results: needs --health-port",
		"system_controller " + file + " --keep-results 9 --health-port 1": "!--keep-results: needs --keys",
		"system_controller":                                               "!the configuration file of the run is missing",
		"timing_manager":                                                  "!service timing_manager: it is a part of the controller here",
		"nonsense":                                                        "!there is no type \"nonsense\"",
		"":                                                                "!the type is missing",
		"worker a b":                                                      "!not also \"b\"",
	} {
		var out, errs strings.Builder
		got := ""
		p := &Program{
			Streams: Streams{Out: &out, Err: &errs, Environ: []string{joinVariable + "=tcp://127.0.0.1:1", tokenVariable + "=secret-of-16-chars"}},
			Work: func(_ context.Context, o WorkOptions) int {
				got = o.Join + " " + o.Token + " " + o.Name
				return 0
			},
			Profile: func(_ context.Context, run *config.Run, _ Streams) int {
				got = strings.TrimSpace(strings.Join([]string{config.FormatFloat(float64(*run.Phases[0].Requests)), config.FormatFloat(float64(config.Value(run.Runtime.APIPort)))}, " "))
				got = strings.ReplaceAll(strings.Replace(got, ".0", " requests", 1), ".0", "")
				return 0
			},
			FindTokenizer: offline,
		}
		status := Main(t.Context(), p, append([]string{"service"}, strings.Fields(words)...))
		if fault, refused := strings.CutPrefix(want, "!"); refused {
			if status == 0 || !strings.Contains(errs.String(), fault) || got != "" {
				t.Errorf("%q: status %d, %q, %s", words, status, got, errs.String())
			}
		} else if status != 0 || got != want {
			t.Errorf("%q: status %d, %q, want %q; %s", words, status, got, want, errs.String())
		}
	}
}

// TestWorkerFlags: a worker needs an address and a token, which is never a flag.
func TestWorkerFlags(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(" secret-of-16-chars \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"--join a --token-file " + token:              "a secret-of-16-chars",
		"--join a --token-file -":                     "a from-standard-in",
		"--token-file " + token:                       "!the address of the controller is missing",
		"--join a":                                    "!the token of the run is missing",
		"--join a --token-file " + empty:              "!is empty",
		"--join a --token-file " + empty + "-missing": "!does not exist",
		"--join a --token x":                          "!--token",
	} {
		var errs strings.Builder
		got := ""
		p := &Program{Streams: Streams{In: strings.NewReader("from-standard-in\n"), Out: &strings.Builder{}, Err: &errs}, Work: func(_ context.Context, o WorkOptions) int {
			got = o.Join + " " + o.Token
			return 0
		}}
		status := Main(t.Context(), p, append([]string{"worker"}, strings.Fields(words)...))
		if fault, refused := strings.CutPrefix(want, "!"); refused {
			if status == 0 || !strings.Contains(errs.String(), fault) || got != "" {
				t.Errorf("%q: status %d, %q, %s", words, status, got, errs.String())
			}
		} else if status != 0 || got != want {
			t.Errorf("%q: status %d, %q, want %q; %s", words, status, got, want, errs.String())
		}
	}
	var errs strings.Builder
	p := &Program{Streams: Streams{Out: &strings.Builder{}, Err: &errs}}
	if status := Main(t.Context(), p, []string{"worker"}); status == 0 || !strings.Contains(errs.String(), "built without several machines") {
		t.Errorf("status %d, %s", status, errs.String())
	}
}
