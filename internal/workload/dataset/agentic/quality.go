package agentic

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/measure/stats"
)

// Spread describes the generated values, rounded to two decimals.
type Spread struct {
	Count  int     `json:"count"`
	Mean   float64 `json:"mean"`
	Std    float64 `json:"std"`
	Median float64 `json:"median"`
	P05    float64 `json:"p05"`
	P25    float64 `json:"p25"`
	P75    float64 `json:"p75"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
}

func round2(f float64) float64 { return math.RoundToEven(f*100) / 100 }

func round4(f float64) float64 { return math.RoundToEven(f*10000) / 10000 }

func spreadOf(v []float64) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	d := stats.Describe(v)
	at := func(level float64) float64 { return round2(stats.Percentile(v, level)) }
	return Spread{d.Count, round2(d.Avg), round2(d.Std), at(50), at(5), at(25), at(75), at(95), at(99)}
}

// Compared compares a quantity with the distribution that it was drawn from.
type Compared struct {
	TargetMean   *float64 `json:"target_mean"`
	TargetMedian *float64 `json:"target_median"`
	Observed     Spread   `json:"observed"`
	ErrorMean    *float64 `json:"pct_error_mean"`
	ErrorMedian  *float64 `json:"pct_error_median"`
}

func compared(v []float64, mean, median float64) Compared {
	c := Compared{TargetMean: &mean, TargetMedian: &median, Observed: spreadOf(v)}
	off := func(got, want float64) *float64 {
		e := round2(math.Abs(got-want) / want * 100)
		return &e
	}
	c.ErrorMean, c.ErrorMedian = off(c.Observed.Mean, mean), off(c.Observed.Median, median)
	return c
}

// resetKeys and turnKeys are summary keys that depend on the configuration.
type resetKeys struct {
	Chance  float64 `json:"reset_base_probability"`
	Scaling float64 `json:"reset_context_scaling"`
}

type turnKeys struct {
	Mean     float64 `json:"turns_mean"`
	Median   float64 `json:"turns_median"`
	Min      int     `json:"turns_min"`
	Max      int     `json:"turns_max"`
	Truncate int     `json:"turns_allow_truncation"`
	Attempts int     `json:"turns_max_session_attempts"`
}

// Quality compares sessions with their distributions.
type Quality struct {
	Config struct {
		InitialMean   float64 `json:"initial_context_mean"`
		InitialMedian float64 `json:"initial_context_median"`
		Layer1        int     `json:"layer1_tokens"`
		Layer15       int     `json:"layer1_5_tokens"`
		Layer2Mean    float64 `json:"layer2_mean"`
		Layer2Median  float64 `json:"layer2_median"`
		Groups        int     `json:"num_groups"`
		Alpha         float64 `json:"zipf_alpha"`
		NewMean       float64 `json:"new_tokens_per_turn_mean"`
		NewMedian     float64 `json:"new_tokens_per_turn_median"`
		OutputMean    float64 `json:"generation_length_mean"`
		OutputMedian  float64 `json:"generation_length_median"`
		MaxPrompt     int     `json:"max_prompt_tokens"`
		BlockSize     int     `json:"block_size"`
		Agentic       float64 `json:"inter_turn_delay_agentic_fraction"`
		AgenticMean   float64 `json:"inter_turn_delay_agentic_mean_ms"`
		HumanMean     float64 `json:"inter_turn_delay_human_mean_ms"`
		TurnMode      int     `json:"turn_mode_enabled"`
		*resetKeys
		*turnKeys
	} `json:"config_summary"`
	Observed struct {
		Initial Compared `json:"initial_context"`
		Output  Compared `json:"generation_length"`
		New     Compared `json:"new_tokens_per_turn"`
		Delay   Compared `json:"inter_turn_delay_ms"`
		Turns   Compared `json:"turns_per_session"`
	} `json:"observed_vs_target"`
	Turns Spread `json:"session_stats"`
	Ends  struct {
		Sessions       int     `json:"total_sessions"`
		Retired        int     `json:"forced_retires"`
		Reset          int     `json:"probabilistic_resets"`
		Completed      int     `json:"target_turn_completions"`
		Split          int     `json:"restart_splits"`
		RetiredShare   float64 `json:"retire_fraction"`
		ResetShare     float64 `json:"reset_fraction"`
		CompletedShare float64 `json:"target_turn_fraction"`
		SplitShare     float64 `json:"restart_split_fraction"`
		Utilization    Spread  `json:"final_context_utilization"` // last prompt / maximum prompt
	} `json:"session_end_stats"`
}

// Judge compares sessions with the distributions.
func Judge(c *Config, sessions []Session) *Quality {
	q := &Quality{}
	k, layer2, biased := &q.Config, c.Cache.Layer2, c.NewTokens.Bias
	k.InitialMean, k.InitialMedian = float64(c.Cache.Layer1+c.Cache.Layer15)+layer2.Mean, float64(c.Cache.Layer1+c.Cache.Layer15)+layer2.Median
	k.Layer1, k.Layer15, k.Layer2Mean, k.Layer2Median, k.Groups, k.Alpha = c.Cache.Layer1, c.Cache.Layer15, layer2.Mean, layer2.Median, c.Cache.Groups.Number, c.Cache.Groups.Alpha
	k.NewMean, k.NewMedian, k.OutputMean, k.OutputMedian = c.NewTokens.Mean*biased, c.NewTokens.Median*biased, c.Output.Mean, c.Output.Median
	k.MaxPrompt, k.BlockSize, k.Agentic, k.AgenticMean, k.HumanMean = c.MaxPrompt, c.BlockSize, c.Delay.AgenticFraction, c.Delay.Agentic.Mean, c.Delay.Human.Mean
	if c.Turns != nil {
		k.TurnMode = 1
		k.turnKeys = &turnKeys{c.Turns.Mean, c.Turns.Median, c.Turns.Min, c.Turns.Max, 0, c.Turns.Attempts}
		if c.Turns.Truncate {
			k.Truncate = 1
		}
	}
	if c.Reset != nil {
		k.resetKeys = &resetKeys{c.Reset.Chance, c.Reset.Scaling}
	}
	var initial, output, added, delays, turns, full []float64
	ends := map[End]int{}
	for i := range sessions {
		s := &sessions[i]
		initial = append(initial, float64(s.Turns[0].Input))
		for n, t := range s.Turns {
			output = append(output, float64(t.Output))
			if n > 0 {
				added, delays = append(added, float64(t.New)), append(delays, t.Delay)
			}
		}
		turns = append(turns, float64(len(s.Turns)))
		full = append(full, float64(s.Turns[len(s.Turns)-1].Input)/float64(c.MaxPrompt))
		ends[s.End]++
	}
	o := &q.Observed
	o.Initial, o.Output, o.New = compared(initial, k.InitialMean, k.InitialMedian), compared(output, k.OutputMean, k.OutputMedian), compared(added, k.NewMean, k.NewMedian)
	o.Delay.Observed, o.Turns.Observed = spreadOf(delays), spreadOf(turns)
	if c.Turns != nil {
		o.Turns = compared(turns, c.Turns.Mean, c.Turns.Median)
	}
	q.Turns = o.Turns.Observed
	e, n := &q.Ends, float64(len(sessions))
	e.Sessions, e.Retired, e.Reset, e.Completed, e.Split = len(sessions), ends[Retired], ends[Reset], ends[Completed], ends[Split]
	e.RetiredShare, e.ResetShare, e.CompletedShare, e.SplitShare = round4(float64(e.Retired)/n), round4(float64(e.Reset)/n), round4(float64(e.Completed)/n), round4(float64(e.Split)/n)
	e.Utilization = spreadOf(full)
	return q
}

// compare formats the quality as a page of text.
func (q *Quality) compare(c *Config, sessions []Session) string {
	var b strings.Builder
	turns := 0
	for i := range sessions {
		turns += len(sessions[i].Turns)
	}
	fmt.Fprintf(&b, "Coding agents: wanted and generated distributions\n%d sessions, %d turns, blocks of %d tokens\n\n%-34s %12s %12s %8s\n", len(sessions), turns, c.BlockSize, "", "target", "generated", "error")
	for _, one := range []struct {
		name string
		c    Compared
	}{
		{"first prompt (tokens)", q.Observed.Initial}, {"new tokens of a turn", q.Observed.New}, {"output (tokens)", q.Observed.Output},
		{"pause before a turn (ms)", q.Observed.Delay}, {"turns of a session", q.Observed.Turns},
	} {
		for _, v := range []struct {
			what string
			want *float64
			got  float64
		}{{"mean", one.c.TargetMean, one.c.Observed.Mean}, {"median", one.c.TargetMedian, one.c.Observed.Median}} {
			target, off := "-", ""
			if v.want != nil {
				target, off = fmt.Sprintf("%.0f", *v.want), fmt.Sprintf("%+.1f%%", (v.got / *v.want - 1)*100)
			}
			fmt.Fprintf(&b, "%-34s %12s %12.1f %8s\n", one.name+", "+v.what, target, v.got, off)
		}
	}
	fmt.Fprintf(&b, "\nends of sessions: longest prompt reached %d, reset %d, all turns done %d, split %d\n", q.Ends.Retired, q.Ends.Reset, q.Ends.Completed, q.Ends.Split)
	return b.String()
}

// Requests returns the number of requests in sessions.
func Requests(sessions []Session) int {
	n := 0
	for s := range slices.Values(sessions) {
		n += len(s.Turns)
	}
	return n
}
