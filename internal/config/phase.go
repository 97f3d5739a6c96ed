package config

// PhaseKind tells whether a phase counts.
type PhaseKind string

// The kinds of phases.
const (
	KindWarmup    PhaseKind = "warmup"
	KindProfiling PhaseKind = "profiling"
)

// PhaseType is the rule by which requests leave.
type PhaseType string

// The timing modes.
const (
	PhaseConcurrency   PhaseType = "concurrency"
	PhasePoisson       PhaseType = "poisson"
	PhaseGamma         PhaseType = "gamma"
	PhaseConstant      PhaseType = "constant"
	PhaseUserCentric   PhaseType = "user_centric"
	PhaseFixedSchedule PhaseType = "fixed_schedule"
)

// HasRate reports whether requests of the type arrive at a request rate.
func (t PhaseType) HasRate() bool {
	return t == PhasePoisson || t == PhaseGamma || t == PhaseConstant
}

// Phase is one stretch of load. The stop conditions Requests, Sessions and Duration are independent: the first that fires ends sending.
type Phase struct {
	Name               string    `yaml:"name"`
	Kind               PhaseKind `yaml:"kind"`
	Type               PhaseType `yaml:"type"`
	ExcludeFromResults bool      `yaml:"exclude_from_results"`

	Requests *int     `yaml:"requests,omitempty"` // nil: no such stop
	Sessions *int     `yaml:"sessions,omitempty"` // nil: no such stop
	Duration *Seconds `yaml:"duration,omitempty"` // nil: no such stop
	// GracePeriod is how long answers may come after Duration; nil and Forever wait for all of them.
	GracePeriod *Seconds `yaml:"grace_period,omitempty"`

	Concurrency        *int  `yaml:"concurrency,omitempty"` // session slots; nil: unlimited
	ConcurrencyRamp    *Ramp `yaml:"concurrency_ramp,omitempty"`
	PrefillConcurrency *int  `yaml:"prefill_concurrency,omitempty"` // nil: unlimited
	PrefillRamp        *Ramp `yaml:"prefill_ramp,omitempty"`

	Rate       *float64 `yaml:"rate,omitempty"`        // requests per second; user_centric: of all users together
	RateSeries string   `yaml:"rate_series,omitempty"` // file of a piecewise-linear rate; excludes Rate
	RateRamp   *Ramp    `yaml:"rate_ramp,omitempty"`
	Smoothness *float64 `yaml:"smoothness,omitempty"` // shape of gamma gaps; nil: 1.0
	Users      *int     `yaml:"users,omitempty"`      // user_centric

	AutoOffset  *bool  `yaml:"auto_offset,omitempty"`  // fixed_schedule: the first timestamp becomes 0; nil for the other types
	StartOffset *int64 `yaml:"start_offset,omitempty"` // ms, inclusive
	EndOffset   *int64 `yaml:"end_offset,omitempty"`   // ms, inclusive

	Cancellation           *Cancellation `yaml:"cancellation,omitempty"`
	Seamless               bool          `yaml:"seamless"` // start without waiting for the previous phase to drain
	FailedRequestThreshold *float64      `yaml:"failed_request_threshold,omitempty"`
}

// Ramp moves a limit from its start value to its target.
type Ramp struct {
	Duration Seconds `yaml:"duration"`
	Strategy string  `yaml:"strategy,omitempty"` // linear (also when empty), exponential, poisson
}

// Cancellation cuts a share of the requests short.
type Cancellation struct {
	Rate  float64 `yaml:"rate"`  // percent of requests, 0 < rate <= 100
	Delay Seconds `yaml:"delay"` // after the request was sent in full
}
