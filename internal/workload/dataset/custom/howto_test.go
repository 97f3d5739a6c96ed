package custom

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testrecording"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

// readQuiz reads one question per row.
func readQuiz(l *loader, path string) error {
	return l.rows(path, []string{"ask", "words"}, func(r *rows.Row) {
		t := conversation.Turn{MaxTokens: r.Int("words", 1), Origin: r.Where}
		if ask := r.String("ask"); ask != nil {
			t.Parts = conversation.Texts("", *ask)
		} else if !r.Has("ask") {
			r.Fault("ask", "missing")
		}
		l.add(conversation.Conversation{ID: l.newID(), Turns: []conversation.Turn{t}})
	})
}

// readColumns reads the column of lengths, then the column of texts.
func readColumns(l *loader, path string) error {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	head := make([]byte, 5)
	if _, err := io.ReadFull(in, head); err != nil {
		return fmt.Errorf("%s: header: %w", path, err)
	}
	lengths := make([]byte, head[4])
	if _, err := io.ReadFull(in, lengths); err != nil {
		return fmt.Errorf("%s: lengths of %d texts: %w", path, len(lengths), err)
	}
	for i, n := range lengths {
		where, text := fmt.Sprintf("%s: text %d", path, i), make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		t := conversation.Turn{Parts: conversation.Texts("", string(text)), Origin: where}
		l.add(conversation.Conversation{ID: l.newID(), Turns: []conversation.Turn{t}})
	}
	return nil
}

// TestHowToAddADataset follows docs/howto/dataset.md. This file has the code of the page, and the same row letter by letter.
func TestHowToAddADataset(t *testing.T) {
	before := Formats
	t.Cleanup(func() { Formats = before })
	Formats = append(Formats[:len(Formats):len(Formats)], []Format{
		{Name: "quiz", read: readQuiz, rank: 1, fits: func(r row) bool { return r.has("ask") }},
		{Name: "columns", read: readColumns, glance: glanceInputs, heads: func(line string) bool { return strings.HasPrefix(line, "QUIZ") }},
	}...)
	testrecording.CheckPageRows(t, "../../../../docs/howto/dataset.md", "howto_test.go", 2)
	for content, want := range map[string]string{
		`{"ask":"Why?","words":"3"}`: "session_000000: [Why?] max=3",
		"QUIZ\x02\x04\x03Why?How":    "session_000000: [Why?],session_000001: [How]",
		`{"ask":1}`:                  "in.jsonl:1: ask: must be a string, got a number",
		"QUIZ\x02\x04\x03Why?":       "in.jsonl: text 1: EOF",
	} {
		s, err := Open(write(t, content), base(""))
		if err != nil {
			if !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%q: %v, want %q", content, err, want)
			}
			continue
		}
		if got := lines(s); !slices.Equal(got, strings.Split(want, ",")) {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
		var streamed []string
		if _, _, err := Stream(write(t, content), "", base(""), func(e Entry) error { streamed = append(streamed, e.Turns[0].Contents()...); return nil }); err != nil ||
			strings.Join(streamed, " ") != map[bool]string{true: "Why? How", false: "Why?"}[strings.HasPrefix(content, "QUIZ")] {
			t.Errorf("%q row by row: %q, %v", content, streamed, err)
		}
		if l, err := SampleFile(write(t, content), "", "", nil); err != nil || l.Format.Name != s.Info().Type {
			t.Errorf("%q: %+v, %v", content, l, err)
		}
	}
	if CheckType("quiz") != nil || !slices.Contains(builtTypes(), "columns") {
		t.Error("the new formats are not listed")
	}
}
