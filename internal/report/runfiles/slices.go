package runfiles

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
)

// Slices holds the figures of the time slices of a run, by the display names of the metrics.
type Slices struct {
	Seconds float64 // length of a slice; 0 = unknown
	metrics map[string]*slicedMetric
}

type slicedMetric struct {
	unit  string
	stats map[string]map[int]float64 // by statistic and slice
}

// Unit returns the unit of a metric; false if there is no such metric.
func (s *Slices) Unit(header string) (string, bool) {
	m := s.metrics[header]
	if m == nil {
		return "", false
	}
	return m.unit, true
}

// Names returns the metrics, sorted.
func (s *Slices) Names() []string {
	var list []string
	for name := range s.metrics {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Stat returns a statistic of a metric: the numbers of the slices that have it, in order, and the values. Slice k begins at k times Seconds.
func (s *Slices) Stat(header, stat string) (at []int, values []float64) {
	m := s.metrics[header]
	if m == nil {
		return nil, nil
	}
	of := m.stats[stat]
	for k := range of {
		at = append(at, k)
	}
	slices.Sort(at)
	for _, k := range at {
		values = append(values, of[k])
	}
	return at, values
}

// readSlices reads the CSV, which both tools write with two decimals, so that every drawn value can be found in the file.
func (r *Run) readSlices() (*Slices, error) {
	file, err := r.open(slicesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("time slices (%s): %w", slicesFile, ErrNone)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &Slices{metrics: map[string]*slicedMetric{}}
	if err := s.read(csv.NewReader(file)); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.Dir, slicesFile), err)
	}
	if sum, err := r.Summary(); err == nil {
		if v, err := strconv.ParseFloat(sum.Setting("artifacts.slice_duration"), 64); err == nil && v > 0 {
			s.Seconds = v
		}
	}
	if len(s.metrics) == 0 {
		return nil, fmt.Errorf("time slices (%s has no rows): %w", slicesFile, ErrNone)
	}
	return s, nil
}

func (s *Slices) read(in *csv.Reader) error {
	head, err := in.Read()
	if err != nil {
		return err
	}
	column := func(name string) int { return slices.Index(head, name) }
	slice, name, unit, stat, value := column("Timeslice"), column("Metric"), column("Unit"), column("Stat"), column("Value")
	if min(slice, name, unit, stat, value) < 0 {
		return fmt.Errorf("line 1: the columns are %q, but Timeslice, Metric, Unit, Stat and Value are needed", head)
	}
	from, to := column("Start_NS"), column("End_NS")
	for {
		row, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := in.FieldPos(0)
		k, err1 := strconv.Atoi(row[slice])
		v, err2 := strconv.ParseFloat(row[value], 64)
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		m := s.metrics[row[name]]
		if m == nil {
			m = &slicedMetric{unit: row[unit], stats: map[string]map[int]float64{}}
			s.metrics[row[name]] = m
		}
		if m.stats[row[stat]] == nil {
			m.stats[row[stat]] = map[int]float64{}
		}
		m.stats[row[stat]][k] = v
		if from >= 0 && to >= 0 {
			a, err1 := strconv.ParseInt(row[from], 10, 64)
			b, err2 := strconv.ParseInt(row[to], 10, 64)
			if errors.Join(err1, err2) == nil {
				s.Seconds = max(s.Seconds, float64(b-a)/1e9) // the last slice may be shorter
			}
		}
	}
}
