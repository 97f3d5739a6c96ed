package suggest

import "testing"

func TestName(t *testing.T) {
	names := []string{"--concurrency", "--request-rate", "--isl", "--osl", "--url", "--streaming"}
	for word, want := range map[string]string{
		"--concurency": "--concurrency", "--reqest_rate": "--request-rate", "--foo": "", "--streamign": "--streaming", "--isk": "--isl", "--x": "",
	} {
		if got := Name(word, names); got != want {
			t.Errorf("nearest to %s: %q, want %q", word, got, want)
		}
	}
}
