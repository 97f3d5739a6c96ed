package inputs

import (
	"slices"
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/public"
)

func TestPublicOptions(t *testing.T) {
	withPhase := func(mode config.PhaseType) *config.Benchmark {
		b := &config.Default().Benchmark
		b.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: mode}}
		return b
	}
	b := withPhase(config.PhaseFixedSchedule)
	d := b.Dataset()
	d.Dataset, d.HFSubset, d.Filters, d.Entries = "exgentic", "part", map[string]string{"source_model": "x", "harness": "y"}, 7
	d.DatasetPath = "copy"
	b.Profiling().Requests = new(9)
	o := PublicOptions(b, d, public.Options{})
	if o.Name != "exgentic" || o.Subset != "part" || !slices.Equal(o.Filters, []string{"harness=y", "source_model=x"}) || o.Entries != 7 || o.Requests != 9 || !o.Scheduled || o.Cache == "" || o.Hub.Dir != "copy" {
		t.Errorf("%+v", o)
	}
	b = withPhase(config.PhaseGamma)
	if o := PublicOptions(b, b.Dataset(), public.Options{}); o.Scheduled || o.Subset != "" || o.Filters != nil {
		t.Errorf("%+v", o)
	}
}
