package resolve

import (
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/synth"
)

// parseSeqDist reads --seq-dist in any of its three forms.
func parseSeqDist(text string) ([]config.SequencePair, error) {
	read, err := synth.ParsePairs(text)
	if err != nil {
		return nil, err
	}
	pairs := make([]config.SequencePair, len(read))
	for i, p := range read {
		pairs[i] = config.SequencePair{
			ISL: *config.Normal(float64(p.ISL), p.ISLDev), OSL: *config.Normal(float64(p.OSL), p.OSLDev), Probability: p.Percent,
		}
	}
	return pairs, nil
}
