package grade

import (
	"context"
	"math"
	"strings"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/workload/accuracy/pystring"
)

// noNumber replaces a missing number.
const noNumber = "[invalid]"

var (
	markedNumber = lazyregexp.New(`#### (-?[0-9.,]+)`)
	plainNumber  = lazyregexp.New(`-?[0-9][0-9,]*(?:\.[0-9]+)?`)
)

// markedAnswer returns the number after the first #### that is followed by one, without commas. (The normaliser of lighteval's GSM8K.)
func markedAnswer(s string) string {
	if m := markedNumber.FindStringSubmatch(s); m != nil {
		return strings.ReplaceAll(m[1], ",", "")
	}
	return noNumber
}

// gsm8k compares the number after #### with that of the solution. An answer without the mark counts with its last number.
func gsm8k(_ context.Context, answer, gold string) Result {
	answer, want := pystring.Strip(answer), markedAnswer(pystring.Strip(gold))
	got, how, guessed := markedAnswer(answer), "behind ####", false
	if got == noNumber {
		how, guessed = "the last number", true
		if all := plainNumber.FindAllStringIndex(answer, -1); all != nil {
			at := all[len(all)-1]
			if answer[at[0]] == '-' && !signed(answer, at[0]) {
				at[0]++
			}
			got = strings.ReplaceAll(answer[at[0]:at[1]], ",", "")
		} else {
			how = "no number found"
		}
	}
	return resultOf(got != noNumber && want != noNumber && sameNumber(got, want), guessed, got, want, how)
}

// sameNumber compares numbers with a tolerance of one millionth, anything else as text.
func sameNumber(a, b string) bool {
	x, okX := float(a)
	y, okY := float(b)
	if !okX || !okY {
		return a == b
	}
	return x == y || math.Abs(x-y) <= 1e-6
}
