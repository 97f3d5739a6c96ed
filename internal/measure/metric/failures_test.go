package metric

import "testing"

func TestFailureSentence(t *testing.T) {
	for _, c := range []struct {
		failed, all int64
		want        string
	}{
		{0, 0, ""}, {0, 100, ""}, {99, 10_000, ""}, {100, 10_000, "1 % of the requests failed"}, {57, 200, "28.5 % of the requests failed"},
		{9999, 10_000, "99.9 % of the requests failed"}, {7, 7, "100 % of the requests failed"},
	} {
		if got := FailureSentence(c.failed, c.all); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.failed, c.all, got, c.want)
		}
	}
}
