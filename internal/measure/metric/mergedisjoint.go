package metric

import "math"

// rates are the metrics of all requests divided by the duration.
var rates = []string{"request_throughput", "output_token_throughput", "input_token_throughput", "total_token_throughput", "image_samples_per_second"}

// AddDisjoint combines runs that each have their own clock. A rate is the sum of the runs' rates. If the runs share no time, their durations are added,
// and goodput is the good requests over the sum. If they overlap in part, as two clients of one server do, the duration reaches from the first start to
// the last end, and goodput is a sum like the other rates. Curves are omitted, because the runs do not share all of their time.
func (s *Summary) AddDisjoint(runs []*Summary, overlap bool) {
	duration := s.Value("benchmark_duration", Avg)
	if !overlap {
		duration = sumOver(runs, "benchmark_duration")
	}
	kept := s.Results[:0]
	for _, r := range s.Results {
		switch {
		case r.Kind == Sweep:
			continue
		case r.Tag == "benchmark_duration":
			r.Values[Avg] = duration
		case r.Tag == "goodput" && overlap:
			r.Values[Avg] = sumOver(runs, r.Tag)
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

// sumOver returns the sum of a value over runs; missing values count as 0.
func sumOver(runs []*Summary, tag string) float64 {
	sum := 0.0
	for _, r := range runs {
		if v := r.Value(tag, Avg); !math.IsNaN(v) {
			sum += v
		}
	}
	return sum
}
