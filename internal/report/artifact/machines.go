package artifact

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"aiperf/internal/measure/metric"
)

// machinesDocument is the content of machines.json.
type machinesDocument struct {
	SchemaVersion string         `json:"schema_version"`
	Machines      []machineEntry `json:"machines"`
}

// machineEntry is one machine. Times are in the unit of their names.
type machineEntry struct {
	Name             string   `json:"name"`
	Host             string   `json:"host,omitempty"`
	Share            int      `json:"share"` // number of its share, from 0
	Of               int      `json:"of"`
	State            string   `json:"state"` // complete, stopped (early, all of its results arrived), lost
	Problem          string   `json:"problem,omitempty"`
	LostAtS          *float64 `json:"lost_at_s,omitempty"` // after the start of the first measured phase
	ClockOffsetNS    int64    `json:"clock_offset_ns"`     // its wall clock minus the controller's
	ClockBoundUS     float64  `json:"clock_bound_us"`      // largest error of the offset
	OutOfSightS      float64  `json:"out_of_sight_s"`
	Sent             int64    `json:"requests_sent"`
	SentAll          bool     `json:"sent_all"` // its part of the load went to its end, as far as known
	Delivered        int64    `json:"requests_delivered"`
	Pieces           int64    `json:"pieces"`
	ScheduleLagP99MS float64  `json:"schedule_lag_p99_ms"`
	CPUPercent       float64  `json:"cpu_percent"` // of its cores
	Cores            int      `json:"cores"`
	Stalls           int64    `json:"stalls"`
}

// WriteMachines writes the file about the machines that sent the requests.
func WriteMachines(l Layout, machines []metric.Machine) error {
	text, err := json.MarshalIndent(machinesDocument{"1.0", entriesOf(machines)}, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(l.Machines(), append(text, '\n'))
}

// entriesOf returns the entries of machines.
func entriesOf(machines []metric.Machine) (list []machineEntry) {
	for i := range machines {
		m := &machines[i]
		e := machineEntry{
			Name: m.Name, Host: m.Host, Share: m.Index, Of: len(machines), State: "complete", Problem: m.Problem, ClockOffsetNS: m.ClockOffset,
			ClockBoundUS: float64(m.ClockBound) / float64(time.Microsecond), OutOfSightS: m.OutOfSight.Seconds(), Sent: m.Sent, SentAll: m.SentAll, Delivered: m.Delivered, Pieces: m.Pieces,
			ScheduleLagP99MS: float64(m.LagP99) / float64(time.Millisecond), CPUPercent: 100 * m.CPUShare, Cores: m.Cores, Stalls: m.Stalls,
		}
		if m.LostAt > 0 {
			e.State = stateStopped
			at := m.LostAt.Seconds()
			e.LostAtS = &at
		}
		if !m.Complete {
			e.State = stateLost
		}
		list = append(list, e)
	}
	return list
}

// readMachines undoes entriesOf for the machines of a verdict.
func readMachines(text []byte) (list []metric.Machine, err error) {
	var entries []machineEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("validity: machines: %w", err)
	}
	for i := range entries {
		e := &entries[i]
		m := metric.Machine{
			Name: e.Name, Host: e.Host, Index: e.Share, Complete: e.State != stateLost, Problem: e.Problem, ClockOffset: e.ClockOffsetNS,
			ClockBound: durationOf(e.ClockBoundUS, time.Microsecond), OutOfSight: durationOf(e.OutOfSightS, time.Second), Sent: e.Sent, SentAll: e.SentAll, Delivered: e.Delivered, Pieces: e.Pieces,
			LagP99: durationOf(e.ScheduleLagP99MS, time.Millisecond), CPUShare: e.CPUPercent / 100, Cores: e.Cores, Stalls: e.Stalls,
		}
		if e.LostAtS != nil {
			m.LostAt = durationOf(*e.LostAtS, time.Second)
		}
		list = append(list, m)
	}
	return list, nil
}

// durationOf converts a number of units to a duration.
func durationOf(n float64, unit time.Duration) time.Duration {
	return time.Duration(math.Round(n * float64(unit)))
}

// States of a machine that left the run early: its results did not all arrive, or they did.
const (
	stateLost    = "lost"
	stateStopped = "stopped"
)
