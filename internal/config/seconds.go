package config

import (
	"fmt"
	"math"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/setting"
)

// Seconds is a duration in s; +Inf means without limit.
type Seconds float64

// Forever is an unlimited duration.
var Forever = Seconds(math.Inf(1))

// Infinite reports whether s is unlimited.
func (s Seconds) Infinite() bool { return math.IsInf(float64(s), 1) }

// Duration returns s as a time.Duration; the maximum if s does not fit.
func (s Seconds) Duration() time.Duration {
	ns := float64(s) * float64(time.Second)
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(ns))
}

// MarshalYAML writes the number with a decimal point.
func (s Seconds) MarshalYAML() (any, error) { return number(float64(s)), nil }

// UnmarshalYAML reads a number of seconds, or a number and a unit: 500ms, 90s, 5 min, 2h.
func (s *Seconds) UnmarshalYAML(n *yaml.Node) error {
	if n.Decode((*float64)(s)) == nil {
		return nil
	}
	v, err := setting.ParseTime(n.Value, "s", true)
	if err != nil {
		return fmt.Errorf("line %d: %q is not a time; write seconds, or 500ms, 90s, 5m, 2h, inf", n.Line, n.Value)
	}
	*s = Seconds(v)
	return nil
}

// FormatFloat formats a number as Python does: the shortest form that reads back, with a decimal point; "inf" for infinity.
func FormatFloat(f float64) string { return string(jsontext.AppendFloat(nil, f)) }

// number returns a scalar that is read back as a float.
func number(f float64) *yaml.Node {
	v := FormatFloat(f)
	if math.IsInf(f, 0) {
		v = strings.Replace(v, "inf", ".inf", 1)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: v}
}
