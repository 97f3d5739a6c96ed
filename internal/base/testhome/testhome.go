// Package testhome gives tests their own home directory and environment, so that files and settings of the user who runs them change nothing. It is
// for tests only.
package testhome

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// runner is the part of testing.M that Run needs.
type runner interface{ Run() int }

// prefixes and names are the variables of a user that change what aiperf does.
var (
	prefixes = []string{"AIPERF_", "HF_", "HUGGING_FACE_", "MLFLOW_", "WANDB_", "OTEL_", "OPENAI_", "ANTHROPIC_", "XDG_"}
	names    = []string{
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE",
		"COLUMNS", "LINES", "SSL_CERT_FILE", "SSL_CERT_DIR", "TIKTOKEN_CACHE_DIR", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT",
		"MODEL_NAME", "INFERENCE_URL",
	}
)

// Run sets up the environment, runs the tests of m, removes the home directory and returns the status of the tests. Call it from TestMain.
func Run(m runner) int {
	remove, err := Enter()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := m.Run()
	if err := remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// Enter points HOME and TMPDIR to a new directory and unsets the variables of the user. Go commands that tests start keep their caches. The returned
// function removes the directory.
func Enter() (remove func() error, err error) {
	if err := keepGoCaches(); err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "testhome")
	if err != nil {
		return nil, err
	}
	temp := filepath.Join(home, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		return nil, err
	}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); users(name) {
			if err := os.Unsetenv(name); err != nil {
				return nil, err
			}
		}
	}
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "TMPDIR": temp, "TMP": temp, "TEMP": temp} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return func() error { return os.RemoveAll(home) }, noGoTelemetry()
}

// noGoTelemetry keeps go commands that tests start from counting in the new home directory. Their background process may still write there while it is
// removed.
func noGoTelemetry() error {
	settings, err := os.UserConfigDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(settings, "go", "telemetry")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "mode"), []byte("off"), 0o600)
}

// keepGoCaches sets the variables of the go command whose defaults depend on HOME, if the command is there.
func keepGoCaches() error {
	vars := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOENV"}
	out, err := exec.Command("go", append([]string{"env"}, vars...)...).Output()
	if err != nil {
		return nil //nolint:nilerr // without the go command no test needs its caches
	}
	lines := strings.Split(string(out), "\n")
	for i, name := range vars {
		if i < len(lines) && lines[i] != "" {
			if err := os.Setenv(name, strings.TrimSpace(lines[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// users reports whether a variable is one of the user's that changes what aiperf does.
func users(name string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, one := range names {
		if name == one {
			return true
		}
	}
	return false
}

// Tests is a testing.M whose tests run in a temporary home directory, for callers that start the tests themselves.
type Tests struct{ M runner }

// Run implements what testscript and goleak need of a testing.M.
func (t Tests) Run() int { return Run(t.M) }
