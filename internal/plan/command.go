package plan

import (
	"strconv"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/redact"
)

// commandLine is the command as exports show it: secrets masked; whatever is neither a number nor a flag nor the command's own name stands
// in single quotes.
func commandLine(args []string) string {
	words := append([]string{"aiperf"}, redact.Args(args, config.FlagSecret)...)
	for i, w := range words[1:] {
		_, err := strconv.ParseFloat(w, 64)
		if err != nil && !strings.HasPrefix(w, "-") && (i > 0 || w != "profile") {
			words[i+1] = "'" + w + "'"
		}
	}
	return strings.Join(words, " ")
}
