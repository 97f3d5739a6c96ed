package cli

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
)

// infiniteRate handles --request-rate inf, which in vLLM's bench means no rate. Without --concurrency all requests are sent at once, so the
// concurrency is set to their number. It returns the changed command line and a note; other command lines are returned unchanged.
func infiniteRate(words []string) (rest []string, note string, err error) {
	if v := strings.ToLower(wordAfter(words, "--request-rate")); v != "inf" && v != "infinity" {
		return words, "", nil
	}
	rest = removeFlags(words, "--request-rate")
	set, _ := setting.Scan(resolve.Flags, rest)
	for _, flag := range []string{"--user-centric-rate", "--request-rate-series", "--arrival-pattern"} {
		if set.Has(flag) {
			return rest, "", fmt.Errorf("--request-rate inf sends without a rate: leave out %s", set.Spelled(flag))
		}
	}
	if set.True("--fixed-schedule", false) {
		return rest, "", fmt.Errorf("--request-rate inf sends without a schedule: leave out --fixed-schedule")
	}
	if set.Has("--concurrency") {
		return rest, fmt.Sprintf("--request-rate inf: no rate, %s alone limits the load (as vLLM's --max-concurrency)", set.Spelled("--concurrency")), nil
	}
	n, err := burstSize(set)
	if err != nil {
		return rest, "", err
	}
	flag := fmt.Sprintf("--concurrency=%d", n)
	return slices.Concat([]string{flag}, rest), fmt.Sprintf("--request-rate inf: all %d requests are sent at once, as in vLLM's bench; the same as --concurrency %d", n, n), nil
}

// burstSize returns the number of requests, or of sessions, of a command line.
func burstSize(set *setting.CommandLine) (int64, error) {
	for _, flag := range []string{"--request-count", "--num-sessions"} {
		if n := set.Ints(flag); len(n) == 1 {
			return n[0], nil
		}
	}
	if set.Has("--benchmark-duration") || set.Has("--config") || set.Has("--public-dataset") || set.Has("--input-file") {
		return 0, fmt.Errorf("--request-rate inf sends all requests at once: say how many with --request-count N, or limit them with --concurrency N")
	}
	return int64(config.DefaultRequests(&config.Phase{})), nil
}
