package message

import (
	"bytes"
	"strings"
	"testing"
)

// logged is the error stream and the log file of a run at a level that says and does a few things before and after the file is there.
func logged(t *testing.T, level string) (screen, file string) {
	t.Helper()
	var err, log bytes.Buffer
	say := New(Options{Level: level, Err: &err, Notes: []string{"a note before"}, Warnings: []string{"a warning before"}})
	say.Warn("an early warning")
	say.OpenFile(&log, "a.log")
	say.Note("a %s", "note")
	say.Log.Debug("a detail")
	return err.String(), log.String()
}

// TestLog: every message to the user is in the log file, in order, also messages from before the file existed; -v shows the lines
// of the log on the error stream, and nothing twice.
func TestLog(t *testing.T) {
	order := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			at := strings.Index(text, w)
			if at < 0 {
				t.Errorf("no %q behind the last in %q", w, text)
				return
			}
			text = text[at+len(w):]
		}
	}
	screen, file := logged(t, "INFO")
	order(file, `level=INFO msg="a note before"`, `level=WARN msg="a warning before"`, `level=WARN msg="an early warning"`, `level=INFO msg="a note"`)
	if screen != "aiperf: warning: an early warning\naiperf: a note\n" {
		t.Errorf("the error stream: %q", screen)
	}
	screen, file = logged(t, "DEBUG")
	order(file, "a note before", "an early warning", "level=DEBUG")
	if screen != file {
		t.Errorf("-v shows\n%s\nthe file holds\n%s", screen, file)
	}
	if screen, file = logged(t, "ERROR"); screen != "" || file != "" {
		t.Errorf("at level ERROR: %q %q", screen, file)
	}
}
