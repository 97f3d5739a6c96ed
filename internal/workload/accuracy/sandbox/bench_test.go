package sandbox

import "testing"

// BenchmarkProgram is the time of a short program, with its sandbox and its interpreter.
func BenchmarkProgram(b *testing.B) {
	if err := Check(); err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if r, err := Run(b.Context(), Job{Code: "print(1)"}); err != nil || !r.Ended {
			b.Fatal(r, err)
		}
	}
}
