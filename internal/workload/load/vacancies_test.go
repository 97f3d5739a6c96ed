package load

import "testing"

// TestVacancies: the slot that has been free for longest is taken first; where fewer are free than answers left free, the oldest are forgotten.
func TestVacancies(t *testing.T) {
	var v vacancies
	v.begin(true)
	for _, at := range []int64{10, 0, 20, 30, 40} { // 0: no answer
		v.add(at)
	}
	for _, c := range []struct {
		free int
		want int64
	}{{4, 10}, {2, 30}, {1, 40}, {1, 0}} {
		if got := v.take(c.free); got != c.want {
			t.Errorf("%d free: %d, want %d", c.free, got, c.want)
		}
	}
	v.begin(false)
	if v.add(10); v.take(1) != 0 {
		t.Error("a vacancy was noted that nobody asks for")
	}
}
