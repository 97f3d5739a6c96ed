package metric

import "math"

// Accuracy holds the grades of the answers to the problems of a benchmark.
type Accuracy struct {
	Benchmark, Grader string
	Tasks             []Score // sorted by task
	Ungraded          int64   // answers without a grade, because the grader failed; no score counts them
}

// Score counts graded answers.
type Score struct {
	Task                     string // "" = all tasks together
	Correct, Total, Unparsed int64
}

// Overall returns the score of all tasks together.
func (a *Accuracy) Overall() Score {
	var all Score
	for _, s := range a.Tasks {
		all.Correct, all.Total, all.Unparsed = all.Correct+s.Correct, all.Total+s.Total, all.Unparsed+s.Unparsed
	}
	return all
}

// Scored reports whether a score is known. It is not if the grader failed at all of its answers.
func (a *Accuracy) Scored(s Score) bool { return s.Total > 0 || a.Ungraded == 0 }

// Rate returns the share of correct answers; 0 if none was graded.
func (s Score) Rate() float64 { return share(s.Correct, s.Total) }

// UnparsedRate returns the share of answers that were guessed or missing.
func (s Score) UnparsedRate() float64 { return share(s.Unparsed, s.Total) }

func share(part, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// normal975 is the 97.5 % quantile of the standard normal distribution.
const normal975 = 1.959963984540054

// Interval returns the 95 % confidence interval of the true share of correct answers: the score interval of Wilson (1927). It treats the problems as
// a random sample of all problems of their kind.
func (s Score) Interval() (low, high float64) {
	if s.Total == 0 {
		return 0, 1
	}
	n, p, z := float64(s.Total), s.Rate(), normal975
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high = max(0, middle-half), min(1, middle+half)
	switch s.Correct { // the ends are exact there
	case 0:
		low = 0
	case s.Total:
		high = 1
	}
	return low, high
}
