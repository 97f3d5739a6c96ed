package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"aiperf/internal/base/boundedfile"
)

// RatePoint is one corner of a piecewise-linear request rate.
type RatePoint struct {
	TimeS float64 `yaml:"time_s"` // seconds from the start of the phase
	QPS   float64 `yaml:"qps"`    // requests per second at that instant
}

// HasSeries reports whether the phase has a rate series.
func (p *Phase) HasSeries() bool { return p.RateSeries != "" || len(p.RatePoints) > 0 }

// Series returns the points of a phase's rate series; nil if it has none. It reads the file if the points are in one.
func (p *Phase) Series() ([]RatePoint, error) {
	if p.RateSeries == "" {
		return p.RatePoints, nil
	}
	return ReadRateSeries(p.RateSeries)
}

// ReadRateSeries reads the file of a rate series: a JSON list of {"time_s", "qps"}, or an object with such a list under "points". Times must start at
// 0 and increase, rates must be above 0.
func ReadRateSeries(path string) ([]RatePoint, error) {
	data, err := boundedfile.ReadAll(path, maxFile)
	if err != nil {
		return nil, err
	}
	points, err := parseRateSeries(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return points, nil
}

func parseRateSeries(data []byte) ([]RatePoint, error) {
	var list []struct {
		TimeS *float64 `json:"time_s"`
		QPS   *float64 `json:"qps"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) != nil || len(object) != 1 || object["points"] == nil {
			return nil, errors.New(`must be a JSON list of {"time_s": seconds, "qps": rate}, or {"points": [...]}`)
		}
		if err := json.Unmarshal(object["points"], &list); err != nil {
			return nil, fmt.Errorf("points: %w", err)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("has no points")
	}
	points := make([]RatePoint, len(list))
	for i, p := range list {
		if p.TimeS == nil || p.QPS == nil {
			return nil, fmt.Errorf("point %d: needs both time_s and qps", i)
		}
		points[i] = RatePoint{TimeS: *p.TimeS, QPS: *p.QPS}
	}
	return points, checkSeries(points)
}

// checkSeries returns an error unless times increase and rates are above 0.
func checkSeries(points []RatePoint) error {
	last := -1.0
	for i, p := range points {
		switch {
		case !measure(p.TimeS) || p.TimeS <= last:
			return fmt.Errorf("point %d: time_s %v must be 0 or more and above the one before it", i, p.TimeS)
		case !(p.QPS > 0 && measure(p.QPS)):
			return fmt.Errorf("point %d: qps %v must be above 0", i, p.QPS)
		}
		last = p.TimeS
	}
	return nil
}
