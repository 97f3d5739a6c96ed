package kube

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// suffixes are the suffixes of quantities and their factors.
var suffixes = []struct {
	text   string
	factor float64
}{
	{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"Pi", 1 << 50}, {"Ei", 1 << 60}, {"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18},
}

// ParseQuantity reads a quantity of Kubernetes, such as 500m or 2Gi.
func ParseQuantity(s string) (float64, error) {
	number, factor := s, 1.0
	for _, one := range suffixes {
		if rest, ok := strings.CutSuffix(s, one.text); ok {
			number, factor = rest, one.factor
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a quantity such as 500m or 2Gi", s)
	}
	return v * factor, nil
}
