package custom

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"aiperf/internal/conversation"
)

// TestLargePoolsAreTheSame: rows of pools that stay in their files give what rows in memory give.
func TestLargePoolsAreTheSame(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"passages.jsonl": "{\"text\":[\"p1\",\"p2\"]}\n\n{\"texts\":[\"p3\"]}\n",
		"queries.jsonl":  "{\"text\":\"q1\",\"image\":\"http://h/1.png\"}\n{\"text\":\"q2\"}\n{\"text\":\"q3\"}",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one := filepath.Join(folder, "queries.jsonl")
	for name, c := range map[string]struct {
		path    string
		batches map[conversation.Kind]int
	}{
		"file": {path: one}, "folder": {path: folder}, "batches": {one, map[conversation.Kind]int{conversation.Text: 3, conversation.Image: 0}},
	} {
		t.Run(name, func(t *testing.T) {
			o := base(poolType)
			o.Entries, o.Batches, o.Context.System = 9, c.batches, "be brief"
			kept, err := Open(c.path, o)
			if err != nil {
				t.Fatal(err)
			}
			leave(t)
			left, err := Open(c.path, o)
			if err != nil {
				t.Fatal(err)
			}
			if left.(*Dataset).lay == nil {
				t.Fatal("the rows were kept")
			}
			if got, want := whole(t, left), whole(t, kept); !slices.Equal(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
