package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/adaptive"
	"aiperf/internal/workload/load"
)

// moved is a load that notes what is done with it.
type moved struct {
	mu   sync.Mutex
	told []string
}

func (m *moved) note(format string, a ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, fmt.Sprintf(format, a...))
}

func (m *moved) Move(index int, to float64) { m.note("%d>%v", index, to) }

func (m *moved) End(index int) { m.note("%d ends", index) }

func (m *moved) Snapshots() []load.Snapshot {
	return []load.Snapshot{{Info: &load.PhaseInfo{Index: 1}, Sessions: 9, Finished: 3, Cut: 1}}
}

// TestSteering: windows of virtual time move the load as the rules say, and requests that left before the boundary was held say nothing of it.
func TestSteering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := &config.Default().Benchmark
		seconds := func(s config.Seconds) *config.Seconds { return &s }
		p := config.Phase{
			Name: "main", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Concurrency: new(40), Duration: seconds(60), AdaptiveScale: true,
			AdaptiveSustain: seconds(3), AdaptiveWindow: seconds(2), AdaptiveVariable: "concurrency", AdaptiveMin: new(2.0), AdaptiveMax: new(30.0),
			AdaptiveStrategy: "ramp_until_fail", AdaptivePolicy: "sla_margin", AdaptiveBaseStep: new(6), AdaptiveMaxMultiplier: new(7),
			AdaptiveStepPercent: new(8.0), SLA: []config.SLAFilter{{MetricTag: "error_rate", Stat: "avg", Op: "le", Threshold: 50}},
		}
		cfg.Phases = []config.Phase{{Name: "warmup", Kind: config.KindWarmup}, p}
		dir, of := t.TempDir(), &moved{}
		s := NewAdaptiveLoad(cfg, "id", artifact.Layout{Dir: dir}, nil, func(string, ...any) {})
		s.Load = of
		if n := s.phases[1].of.ProfilingIndex; n != 0 {
			t.Errorf("the index among the measured phases is %d", n)
		}
		if n := s.users(1); n != 5 {
			t.Errorf("%d users", n)
		}
		s.PhaseStart(&load.PhaseInfo{Index: 0, Name: "warmup"})
		s.PhaseStart(&load.PhaseInfo{Index: 1, Name: "main"})
		set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ended := func(after time.Duration, sent time.Time, fails ...string) { // requests of the same start, each with its error
			<-time.After(time.Until(began.Add(after)))
			for _, kind := range fails {
				rec := &record.Record{Meta: record.Meta{PhaseIndex: 1}, Start: sent.UnixNano(), End: time.Now().UnixNano()}
				reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: rec.End - 2e6, Text: "a"}, {At: rec.End, Text: "b"}}}
				if kind != "" {
					rec.Error, reply = &record.Error{Code: 499, Type: kind, Message: kind}, nil
				}
				s.Observe(set.Row(rec, reply, record.Counts{Input: 1, Output: 2, Reasoning: -1}))
			}
		}
		s.Observe(set.Row(&record.Record{Meta: record.Meta{PhaseIndex: 0}}, nil, record.Counts{})) // the warm-up's
		ended(time.Second, began, "", transport.ErrCancelled)                                      // no error: margin 1, seven base steps of 6, at most 30
		ended(3*time.Second, began, "", "odd", "odd", "odd")                                       // 75 %: back to 2
		ended(5*time.Second, began, "odd")                                                         // sent before that: the window is empty
		ended(7*time.Second, time.Now(), "")                                                       // passes, held for 4 s
		<-time.After(3 * time.Second)
		s.PhaseEnd(&load.PhaseStats{Info: load.PhaseInfo{Index: 1, Name: "main"}, StoppedBy: load.StopControl})
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if want := []string{"1>30", "1>2", "1 ends"}; !reflect.DeepEqual(of.told, want) {
			t.Errorf("%q, want %q", of.told, want)
		}
		data, err := os.ReadFile(filepath.Join(dir, "phases", "main", "adaptive_scale_summary.json"))
		var summary map[string]any
		if err := errors.Join(err, json.Unmarshal(data, &summary)); err != nil {
			t.Fatal(err)
		}
		first, third := summary["candidates"].([]any)[0].(map[string]any), summary["candidates"].([]any)[2].(map[string]any)
		if first["cancelled"] != 1.0 || first["latency_p50_ms"] != 1000.0 || first["ttft_p50_ms"] != 998.0 || first["itl_p50_ms"] != 2.0 || third["request_count"] != 0.0 {
			t.Errorf("%v\n%v", first, third)
		}
		if summary["completed_reason"] != adaptive.Sustained || summary["boundary_value"] != 2.0 || summary["first_failing_value"] != 30.0 {
			t.Errorf("%v", summary)
		}
	})
}
