package metric

import "math"

// Accuracy is how the answers of a run to the problems of a benchmark were graded.
type Accuracy struct {
	Benchmark, Grader string
	Tasks             []Score // by ascending task
}

// Score counts graded answers.
type Score struct {
	Task                     string // "" = of all tasks
	Correct, Total, Unparsed int64
}

// Overall is the score of all tasks together.
func (a *Accuracy) Overall() Score {
	var all Score
	for _, s := range a.Tasks {
		all.Correct, all.Total, all.Unparsed = all.Correct+s.Correct, all.Total+s.Total, all.Unparsed+s.Unparsed
	}
	return all
}

// Rate is the share of correct answers; 0 where none was graded.
func (s Score) Rate() float64 { return share(s.Correct, s.Total) }

// UnparsedRate is the share of answers that had to be guessed or were missing.
func (s Score) UnparsedRate() float64 { return share(s.Unparsed, s.Total) }

func share(part, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// normal975 is the quantile of the normal law that leaves 2.5 % above it.
const normal975 = 1.959963984540054

// Interval is where the true share of correct answers lies with 95 % confidence: the score interval of Wilson (1927). Problems are taken to be
// drawn from all problems of their kind.
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
