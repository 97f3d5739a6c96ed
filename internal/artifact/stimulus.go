package artifact

import (
	"strconv"
	"strings"
)

// String is the part of a directory name that tells the load; rates print as Python floats.
func (s Stimulus) String() string {
	rate := func(v float64) string { return string(appendFloat(nil, v)) }
	switch {
	case s.FixedSchedule:
		return "fixed_schedule"
	case s.Users > 0:
		return "user_centric-users" + strconv.Itoa(s.Users) + "-qps" + rate(s.UserRate)
	}
	var parts []string
	if s.Concurrency > 0 {
		parts = append(parts, "concurrency"+strconv.Itoa(s.Concurrency))
	}
	if s.RequestRate > 0 {
		parts = append(parts, "request_rate"+rate(s.RequestRate))
	}
	if len(parts) == 0 {
		return "concurrency1"
	}
	return strings.Join(parts, "-")
}
