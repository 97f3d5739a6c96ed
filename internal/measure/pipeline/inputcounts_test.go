package pipeline

import (
	"errors"
	"fmt"
	"testing"
)

// TestInputCounts: every text is counted once for each model, whatever follows it; a failure is not stored.
func TestInputCounts(t *testing.T) {
	c := newInputCounts()
	calls := map[string]int{}
	count := func(model, text string) (int, error) {
		calls[model+"/"+text]++
		if text == "bad" && calls[model+"/"+text] == 1 {
			return 0, errors.New("too long")
		}
		return len(model) + 10*len(text), nil
	}
	for range 3 {
		for _, model := range []string{"m", "mm"} {
			for _, text := range []string{"", "a", "aa", "mm"} {
				if n, err := c.count(model, text, count); n != len(model)+10*len(text) || err != nil {
					t.Errorf("%q of %q: %d, %v", text, model, n, err)
				}
			}
		}
	}
	for key, n := range calls {
		if n != 1 {
			t.Errorf("%s was counted %d times", key, n)
		}
	}
	if _, err := c.count("m", "bad", count); err == nil {
		t.Error("no error")
	}
	if n, err := c.count("m", "bad", count); n != 31 || err != nil {
		t.Errorf("after a failure: %d, %v", n, err)
	}
	for i := range maxInputCounts + 10 {
		if n, err := c.count("m", fmt.Sprint(i), func(string, string) (int, error) { return i, nil }); n != i || err != nil {
			t.Fatalf("text %d: %d, %v", i, n, err)
		}
	}
	if len(c.counts) > maxInputCounts {
		t.Errorf("%d counts are stored", len(c.counts))
	}
}
