package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
)

// completeFlags offers the flags of a table, or the values of the flag before the cursor or before "=". The shell adds the text before "=" itself.
// bare is the completion for words that are not the value of a flag.
func completeFlags(t *setting.Table, words []string, toComplete string, bare cobra.ShellCompDirective) ([]string, cobra.ShellCompDirective) {
	if name, _, inline := strings.Cut(toComplete, "="); inline && strings.HasPrefix(name, "-") {
		if f, _, ok := t.Lookup(name); ok {
			return completeValue(f)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if !strings.HasPrefix(toComplete, "-") {
		if f := waiting(t, words); f != nil {
			return completeValue(f)
		}
		if bare == cobra.ShellCompDirectiveDefault || toComplete != "" {
			return nil, bare
		}
	}
	var names []string
	for i := range t.Rows {
		if f := &t.Rows[i]; !f.NotBuilt {
			for _, n := range append(append([]string(nil), f.Flags...), f.FalseNames...) {
				if strings.HasPrefix(n, toComplete) && strings.HasPrefix(n, "--") {
					names = append(names, n+"\t"+f.Help)
				}
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// waiting returns the flag that expects a value next: the last word, or the last flag if it takes a list; nil if there is none.
func waiting(t *setting.Table, words []string) *setting.Row {
	for i := len(words) - 1; i >= 0; i-- {
		if !strings.HasPrefix(words[i], "-") {
			continue
		}
		f, _, ok := t.Lookup(words[i])
		if ok && f.Kind != setting.Bool && (i == len(words)-1 || f.List || f.Tokens) {
			return f
		}
		break
	}
	return nil
}

// completeValue offers the values of a flag: names, or files and directories if it takes a path.
func completeValue(f *setting.Row) ([]string, cobra.ShellCompDirective) {
	switch {
	case f.Folder:
		return nil, cobra.ShellCompDirectiveFilterDirs
	case f.Kind == setting.Path || f.Files:
		return nil, cobra.ShellCompDirectiveDefault
	case f.Shown != nil:
		return slices.Concat(f.Shown, more(f)), cobra.ShellCompDirectiveNoFileComp
	}
	return f.Values(), cobra.ShellCompDirectiveNoFileComp
}

// more returns the values of a flag that only this machine knows.
func more(f *setting.Row) []string { return f.Values()[len(f.Choices):] }
