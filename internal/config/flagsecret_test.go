package config

import (
	"strings"
	"testing"

	"aiperf/internal/base/redact"
)

// TestFlagSecrets: the row of a flag says what is hidden, for every spelling; every row with a credential hides it.
func TestFlagSecrets(t *testing.T) {
	for flag, want := range map[string]redact.ArgKind{
		"--api-key": redact.Secret, "-H": redact.HeaderLine, "--H": redact.HeaderLine, "-u": redact.Address, "--custom-endpoint": redact.Address,
		"--extra-inputs": redact.Member, "--server-metrics-url": redact.Address, "--gpu-telemetry": redact.Address, "--concurrency": redact.Open,
	} {
		if kind, ok := FlagSecret(flag); !ok || kind != want {
			t.Errorf("%s: %v %v, want %v", flag, kind, ok, want)
		}
	}
	for _, row := range Rows() {
		for _, word := range []string{"api-key", "api-token", "access-token", "password", "-uri", "url"} {
			if name := row.Name(); strings.Contains(name, word) && !strings.Contains(name, "url-strategy") && row.Secret == redact.Open {
				t.Errorf("%s: its row hides nothing", name)
			}
		}
	}
	got := redact.Args([]string{"--api-key", "K", "--server_metrics_url=http://u:p@h", "--hf-access-token=Z", "--isl", "9"}, FlagSecret)
	if text := strings.Join(got, " "); strings.Contains(text, "K") || strings.Contains(text, "u:p") || strings.Contains(text, "Z") || !strings.HasSuffix(text, "--isl 9") {
		t.Error(text)
	}
}
