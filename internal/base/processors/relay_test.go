package processors

import "testing"

// TestRelay: everything is called, in its order, before Close returns; without a relay it is called at once.
func TestRelay(t *testing.T) {
	for name, r := range map[string]*Relay{"relay": NewRelay(), "none": nil} {
		const all = 10_000
		var calls []int
		for i := range all {
			r.Do(func() { calls = append(calls, i) })
		}
		r.Close()
		for i, got := range calls {
			if got != i {
				t.Fatalf("%s: call %d came in place %d", name, got, i)
			}
		}
		if len(calls) != all {
			t.Errorf("%s: %d calls of %d", name, len(calls), all)
		}
	}
}
