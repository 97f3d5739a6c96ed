package custom

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/conversation"
)

// TestLargePoolsAreTheSame checks that pool rows that stay in their files give the same as rows in memory.
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
			if left.(*Dataset).readStored == nil {
				t.Fatal("the rows were kept")
			}
			if got, want := whole(t, left), whole(t, kept); !slices.Equal(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestBatchOfPassages checks that a folder of queries and passages gives one query and the requested number of different passages, from memory and
// from the files.
func TestBatchOfPassages(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"passages.jsonl": "{\"text\":[\"p1\",\"p2\"]}\n{\"text\":\"p3\"}\n{\"text\":\"p4\"}\n",
		"queries.jsonl":  "{\"text\":\"q1\"}\n{\"text\":\"q2\"}\n{\"text\":\"q3\"}\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := base(poolType)
	o.Entries, o.Batches = 50, map[conversation.Kind]int{conversation.Text: 3}
	kept, err := Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range kept.Len() {
		var passages []string
		queries := 0
		for _, p := range kept.Conversation(i).Turns[0].Parts {
			switch p.Name {
			case "queries":
				queries++
			case "passages":
				passages = append(passages, p.Text)
			}
		}
		slices.Sort(passages)
		if queries != 1 || len(slices.Compact(slices.Clone(passages))) != 3 || len(passages) != 3 {
			t.Fatalf("entry %d: %d queries, passages %q", i, queries, passages)
		}
		for _, p := range passages {
			seen[p] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("only %v were drawn", seen)
	}
	leave(t)
	left, err := Open(folder, o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := whole(t, left), whole(t, kept); !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o.Batches[conversation.Text] = 5
	if _, err := Open(folder, o); err == nil || !strings.Contains(err.Error(), "5: each request needs this number of different passages, but the folder has only 4") {
		t.Errorf("more passages than there are: %v", err)
	}
}
