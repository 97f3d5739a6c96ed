package cli

import (
	"errors"
	"strconv"

	"aiperf/internal/base/setting"
)

// durationValue is the value of a flag for a duration in s, 0 or more. It implements pflag.Value. A number without a unit means seconds.
type durationValue float64

// Set implements pflag.Value.
func (l *durationValue) Set(text string) error {
	v, err := setting.ParseTime(text, "s", false)
	if err == nil && v < 0 {
		err = errors.New("must be >= 0")
	}
	if err == nil {
		*l = durationValue(v)
	}
	return err
}

// String implements pflag.Value.
func (l *durationValue) String() string { return strconv.FormatFloat(float64(*l), 'g', -1, 64) }

// Type implements pflag.Value. It is the word for the value in help texts.
func (l *durationValue) Type() string { return "TIME" }
