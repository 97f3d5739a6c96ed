package cli

import (
	"errors"
	"strconv"

	"aiperf/internal/setting"
)

// length is the value of a flag that is a length of time of 0 or more, in s. It implements pflag.Value. A number without a unit counts seconds.
type length float64

// Set implements pflag.Value.
func (l *length) Set(text string) error {
	v, err := setting.ParseTime(text, "s", false)
	if err == nil && v < 0 {
		err = errors.New("must be >= 0")
	}
	if err == nil {
		*l = length(v)
	}
	return err
}

// String implements pflag.Value.
func (l *length) String() string { return strconv.FormatFloat(float64(*l), 'g', -1, 64) }

// Type implements pflag.Value. It is the word for the value in help texts.
func (l *length) Type() string { return "TIME" }
