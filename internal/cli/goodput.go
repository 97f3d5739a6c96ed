package cli

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/setting"
)

// parseGoodput reads "tag:number tag:number"; the last one of a tag wins.
func parseGoodput(text string) (config.SLOs, error) {
	slos := config.SLOs{}
	for _, item := range strings.Fields(text) {
		tag, number, ok := strings.Cut(item, ":")
		if !ok || tag == "" || number == "" {
			return nil, fmt.Errorf("%q is not tag:number", item)
		}
		v, err := setting.ParseFloat(number, true)
		if err != nil {
			return nil, fmt.Errorf("%s: %q %w; items are separated by blanks", tag, number, err)
		}
		if v < 0 || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: the threshold %s must be finite and not negative", tag, number)
		}
		slos.Set(tag, v)
	}
	if len(slos) == 0 {
		return nil, fmt.Errorf("the value is empty; write tag:number")
	}
	return slos, nil
}
