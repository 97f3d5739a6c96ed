package metric

import "math"

// rates are the metrics of all requests over the time that they took.
var rates = []string{"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput", "image_samples_per_second"}

// Apart makes the figures over time those of runs of which each has its own clock or time: a rate is the sum of the runs' rates, the duration the
// sum of theirs, goodput the good requests over that duration. Curves over the time that they have in common do not exist and are left out.
func (s *Summary) Apart(runs []*Summary) {
	duration := 0.0
	for _, r := range runs {
		duration += r.Value("benchmark_duration", Avg)
	}
	kept := s.Results[:0]
	for _, r := range s.Results {
		switch {
		case r.Kind == Sweep:
			continue
		case r.Tag == "benchmark_duration":
			r.Values[Avg] = duration
		case r.Tag == "goodput":
			r.Values[Avg] = s.Value("good_request_count", Avg) / duration
		}
		for _, tag := range rates {
			if r.Tag == tag {
				r.Values[Avg] = sumOver(runs, tag)
			}
		}
		kept = append(kept, r)
	}
	s.Results, s.byTag = kept, map[string]int{}
	s.sort()
}

// sumOver is the sum of a value of the run over runs; those that lack it add nothing.
func sumOver(runs []*Summary, tag string) float64 {
	sum := 0.0
	for _, r := range runs {
		if v := r.Value(tag, Avg); !math.IsNaN(v) {
			sum += v
		}
	}
	return sum
}
