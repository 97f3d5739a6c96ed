package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestDescriptions: the description of every command is a noun phrase of at most 12 words: no article, no imperative and no full stop.
func TestDescriptions(t *testing.T) {
	verb := regexp.MustCompile(`^(a|an|the|one|all|add|build|check|convert|count|encode|decode|fetch|find|generate|grade|list|make|print|run|search|show|write)$`)
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		words := strings.Fields(cmd.Short)
		if len(words) == 0 || len(words) > 12 {
			t.Errorf("%s: %q has %d words, want 1 to 12", cmd.CommandPath(), cmd.Short, len(words))
			return
		}
		noun := len(words) > 1 && (words[1] == "of" || words[1] == "for") // "check of a file", not "check a file"
		if verb.MatchString(strings.ToLower(words[0])) && !noun || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: %q is no noun phrase", cmd.CommandPath(), cmd.Short)
		}
		if first := words[0]; first[:1] != strings.ToLower(first[:1]) && !strings.HasPrefix(first, "GenAI-Perf") && first != "JSON" {
			t.Errorf("%s: %q begins with a capital letter", cmd.CommandPath(), cmd.Short)
		}
		for _, child := range cmd.Commands() {
			walk(child)
		}
	}
	walk((&Program{}).root())
}
