package capacity

// Cell is the result of one load.
type Cell struct {
	Load      float64 `json:"x"`
	Wash      float64 `json:"wash_s"`
	Seconds   float64 `json:"seconds"` // measured time without the wash-in
	N         int     `json:"n"`
	Bad       float64 `json:"bad"`       // share of bad requests for the binding objective
	Effective float64 `json:"effective"` // number of independent requests
	State     State   `json:"state"`
	Objective string  `json:"objective"`
	Lost      float64 `json:"client_lost"` // share of the schedule that the client dropped; the load is what it offered
	Limited   bool    `json:"client_limited"`
}

// Reasons for the end of a search.
const (
	Settled   = "settled"
	Time      = "time"
	Many      = "cells"
	Client    = "client"
	Disturbed = "disturbed" // the client could generate no load any more, not even a low one
	NotMet    = "not met"
	Stopped   = "stopped"
	Unproven  = "unproven" // not even clearly lower loads were seen to meet the objective
	Unsteady  = "unsteady" // the server missed the objective at loads that had met it before
)

// Answer is the result of a search.
type Answer struct {
	Capacity  float64 // 0: only a bound is known
	Low, High float64 // of the 90 % interval
	AtLeast   float64
	Binding   string // objective
	Why       string
	Seconds   float64
	Cells     []Cell
	Ceiling   float64 // load that the client could not generate; 0: none
	Alone     float64 // latency of one user, s
	Failed    float64 // lowest load above the capacity at which the queue grew without end; 0: none
	// Below is what the cells clearly below the capacity, or all of them, showed of the binding objective.
	Below Evidence
	// Left is the time in s that was left at the end of the search, Needed the shortest time of the next cell. 0: no cell was skipped.
	Left, Needed float64
}
