package plan

import (
	"strconv"
	"strings"

	"aiperf/internal/base/redact"
	"aiperf/internal/config"
)

// commandLine returns the command for exports, with secrets masked. Words are in single quotes unless they are numbers, flags, the subcommand profile,
// or kube or the old program name genai-perf before it.
func commandLine(args []string) string {
	words := append([]string{"aiperf"}, redact.Args(args, config.FlagSecret)...)
	begin := 1
	for _, name := range []string{"genai-perf", "kube", "profile"} {
		if begin < len(words) && words[begin] == name {
			begin++
		}
	}
	for i, w := range words[begin:] {
		if _, err := strconv.ParseFloat(w, 64); err != nil && !strings.HasPrefix(w, "-") {
			words[begin+i] = "'" + w + "'"
		}
	}
	return strings.Join(words, " ")
}
