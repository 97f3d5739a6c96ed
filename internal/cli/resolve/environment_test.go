package resolve

import (
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
)

func TestReadEnvironment(t *testing.T) {
	e := config.DefaultEnvironment()
	problems, warnings := ReadEnvironment([]string{
		"AIPERF_HTTP_SSL_VERIFY=false", "AIPERF_HTTP_TRUST_ENV=On", "AIPERF_HTTP_X_SESSION_AFFINITY_FROM_CORRELATION_ID=f",
		"AIPERF_TIMING_CANCEL_DRAIN_TIMEOUT=0.5", "AIPERF_HTTP_IP_VERSION=AUTO", "AIPERF_GPU_COLLECTION_INTERVAL=1.5",
		"AIPERF_GPU_COLECTION_INTERVAL=2", "AIPERF_TOKENIZER_PRELOAD_TIMEOUT=1", "AIPERF_GPU_DEFAULT_DCGM_ENDPOINTS=[\"http://a:1\", \"http://b:2\"]", "HOME=/x",
	}, &e)
	if e.HTTP.SSLVerify || !e.HTTP.TrustEnv || e.HTTP.SessionAffinity || e.HTTP.IPVersion != "auto" || e.GPU.CollectionInterval != 1.5 || len(e.GPU.DefaultDCGMEndpoints) != 2 {
		t.Errorf("%+v", e)
	}
	if len(problems) != 1 || !strings.Contains(problems[0], `AIPERF_TIMING_CANCEL_DRAIN_TIMEOUT: "0.5" must be >= 1 and <= 300`) {
		t.Errorf("problems: %q", problems)
	}
	if len(warnings) != 2 || !strings.Contains(warnings[0], "did you mean AIPERF_GPU_COLLECTION_INTERVAL?") || !strings.Contains(warnings[1], "known and has no effect here") {
		t.Errorf("warnings: %q", warnings)
	}
}

// TestVariablesOfOtherCommands: variables that are not settings of a run give no warning.
func TestVariablesOfOtherCommands(t *testing.T) {
	e := config.DefaultEnvironment()
	for _, name := range []string{"AIPERF_IMAGE", "AIPERF_COMMAND_LINE", "AIPERF_JOIN", "AIPERF_TOKEN", "AIPERF_NAME", "AIPERF_POD_IP", "AIPERF_PLUGIN_PATH"} {
		if problems, warnings := ReadEnvironment([]string{name + "=1"}, &e); len(problems)+len(warnings) > 0 {
			t.Errorf("%s: %q %q", name, problems, warnings)
		}
	}
}

// TestEveryVariableDoesSomething: a variable of the table changes the environment that the run gets, and a variable without effect gives a message.
func TestEveryVariableDoesSomething(t *testing.T) {
	testhome.Slow(t)
	for _, v := range config.Rows() {
		if v.Env == "" {
			continue
		}
		changed := false
		for _, value := range []string{"true", "false", "7", "70", "2000000", "0.5", "0.25", "6", "tdigest", "http://h"} {
			e, before := config.DefaultEnvironment(), config.DefaultEnvironment()
			if problems, _ := ReadEnvironment([]string{config.EnvPrefix + v.Env + "=" + value}, &e); len(problems) > 0 {
				continue
			}
			r := &resolver{run: &config.Run{Benchmark: config.Benchmark{Environment: e}}}
			r.warnIdleEnvironment()
			differs := spelled(t, e) != spelled(t, before)
			if said := len(r.Warnings)+len(r.Problems) > 0; said != (differs && v.NoEffect != "") {
				t.Errorf("%s=%s (%q): %v %v", v.Env, value, v.NoEffect, r.Warnings, r.Problems)
			}
			changed = changed || differs
		}
		if !changed && v.Env != "API_SERVER_TOKEN" { // a credential of one run, which nothing shows
			t.Errorf("%s: no value changes anything", v.Env)
		}
	}
}

func spelled(t *testing.T, e config.Environment) string {
	t.Helper()
	run := config.Default()
	run.Environment = e
	text, err := run.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
