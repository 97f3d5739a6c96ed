package terminal

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/redact"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain\tä日🙂\n":          "plain\tä日🙂\n",
		"\x1b]0;title\x07":      `\x1b]0;title\x07`,
		"\u009b31m\x7f\r\x00":   `\x9b31m\x7f\x0d\x00`,
		"\x9b31m\xff":           `\x9b31m\xff`,
		"a\u202eb\u2066c\u200f": `a\u202eb\u2066c\u200f`,
		"\u2028\ufeff\u00ad":    `\u2028\ufeff\xad`,
		"\U000e0041":            `\U000e0041`,
		"👩\u200d💻 \ufffd":       "👩\u200d💻 \ufffd",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Line("a\nb\r\tc\x1b\u2028d"); got != `a b  c\x1b d` {
		t.Errorf("Line: %q", got)
	}
}

func TestWriter(t *testing.T) {
	for _, c := range []struct {
		colour bool
		writes []string
		want   string
	}{
		{false, []string{"\x1b[1mbold\x1b[0m\n"}, `\x1b[1mbold\x1b[0m` + "\n"},
		{true, []string{"\x1b[1mbold\x1b[0m\x1b[31m!\x1b[8m\x1b[2J\x1b]0;t\x07"}, "\x1b[1mbold\x1b[0m\x1b[31m!" + `\x1b[8m\x1b[2J\x1b]0;t\x07`},
		{true, []string{"a\x1b", "[", "3", "1", "mred\x1b", "Z"}, "a\x1b[31mred" + `\x1bZ`},
		{true, []string{"\x1b[999", "m"}, `\x1b[999m`},
		{false, []string{"日"[:1], "日"[1:2], "日"[2:], "\u202e"[:2], "\u202e"[2:]}, `日\u202e`},
		{false, []string{"\xe6", "a"}, `\xe6a`},
		{false, []string{"my se-", "cret7 se-cret7"}, "my <redacted> <redacted>"},
		{false, []string{"s", "e-", "c", "r", "e", "t7", "s"}, "<redacted>s"},
		{false, []string{"a se-c", "ond se"}, "a se-cond se"},
	} {
		var b bytes.Buffer
		w := NewWriter(&b, c.colour, redact.NewSecrets("se-cret7"))
		for _, s := range c.writes {
			if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%q becomes %q, want %q", c.writes, b.String(), c.want)
		}
	}
}

func TestRedraw(t *testing.T) {
	var b bytes.Buffer
	if err := errors.Join(Redraw(NewWriter(&b, false, nil), "a\x1b[2J\nb"), Redraw(&b, "c\x07")); err != nil {
		t.Fatal(err)
	}
	if want := "\r\x1b[Ka" + `\x1b[2J b` + "\r\x1b[Kc" + `\x07`; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestWriterError(t *testing.T) {
	w := NewWriter(broken{}, false, nil)
	if _, err := w.Write([]byte("x")); err == nil {
		t.Error("no error")
	}
	if w.Redraw("x") == nil {
		t.Error("no error of a line drawn over")
	}
}

// FuzzWriter: for any input, cut into any pieces, the output is plain text.
func FuzzWriter(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\xff\u202e", 3)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		cut = min(max(cut, 0), len(s))
		var plain, coloured bytes.Buffer
		for _, w := range []*Writer{NewWriter(&plain, false, nil), NewWriter(&coloured, true, nil)} {
			for _, part := range []string{s[:cut], s[cut:]} {
				if _, err := w.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
		}
		out := plain.String()
		if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
			t.Errorf("%q becomes %q", s, out)
		}
		for rest := coloured.String(); ; {
			_, after, found := strings.Cut(rest, "\x1b")
			if !found {
				break
			}
			if colourLength("\x1b"+after) <= 0 {
				t.Errorf("%q becomes %q", s, coloured.String())
			}
			rest = after
		}
	})
}

// reader is an output that takes a text when somebody asks for it.
type reader chan string

func (r reader) Write(p []byte) (int, error) {
	r <- string(p)
	return len(p), nil
}

// TestResume: while the stored text waits for a terminal that does not read, other output waits behind it and blocks nobody. A view that takes the
// terminal meanwhile keeps it, and Flush waits for the text.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := make(reader)
		w := NewWriter(out, false, nil)
		var done sync.WaitGroup
		w.Defer()
		put := func(text string) {
			t.Helper()
			if _, err := w.Write([]byte(text)); err != nil { // a blocked write is a deadlock of the test
				t.Error(err)
			}
		}
		put("first ")
		put("second ")
		done.Go(w.Resume)
		synctest.Wait()
		put("third ")
		w.Resume()
		done.Go(func() { _ = w.Flush() })
		synctest.Wait()
		if got := <-out + <-out; got != "first second third " {
			t.Errorf("%q", got)
		}
		done.Wait()

		w.Defer()
		put("fourth ")
		done.Go(w.Resume)
		synctest.Wait()
		w.Defer()
		put("fifth ")
		if got := <-out; got != "fourth " {
			t.Errorf("%q", got)
		}
		done.Wait()
		done.Go(w.Resume)
		if got := <-out; got != "fifth " {
			t.Errorf("%q", got)
		}
		done.Wait()
		done.Go(func() { put("sixth") })
		if got := <-out; got != "sixth" {
			t.Errorf("%q", got)
		}
		done.Wait()
	})
}
