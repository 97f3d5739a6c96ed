package run

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// TestAbandoned: a run that is interrupted when it has just begun its files, before it sends anything, leaves only its log.
func TestAbandoned(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	begin := func() error { cancel(); return nil }
	if _, err := Run(ctx, whole(dir, "http://127.0.0.1:1", 3), nil, Options{Err: &locked{}, Begin: begin}); err == nil || !strings.Contains(err.Error(), "before the first request") {
		t.Errorf("%v", err)
	}
	var left []string
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left = append(left, e.Name())
		}
		return err
	}); err != nil || !slices.Equal(left, []string{"aiperf.log"}) {
		t.Errorf("%v %v", left, err)
	}
}

// TestComplaint: one line says why a run has no result, and nothing if it has one.
func TestComplaint(t *testing.T) {
	group := func(n int64, code int, kind, message string) metric.ErrorGroup {
		return metric.ErrorGroup{Error: record.Error{Code: code, Type: kind, Message: message}, Count: n}
	}
	for _, c := range []struct {
		from metric.Summary
		want string
	}{
		{metric.Summary{Valid: 1, Failed: 9}, ""},
		{metric.Summary{Cut: 3}, "no request finished"},
		{metric.Summary{Failed: 2, Errors: []metric.ErrorGroup{group(2, 0, "TimeoutError", "TimeoutError()")}}, "all 2 requests failed: 2 × TimeoutError: TimeoutError()"},
		{metric.Summary{Failed: 10, Errors: []metric.ErrorGroup{
			group(4, 500, "Internal Server Error", "a\n  b"), group(3, 0, "A", ""), group(2, 0, "B", ""), group(1, 0, "C", ""),
		}}, "all 10 requests failed: 4 × 500 Internal Server Error: a b; 3 × A; 2 × B; and 1 other kind of error"},
	} {
		if got := failureReason(&c.from); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
