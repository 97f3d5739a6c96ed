package inputs

import (
	"context"
	"maps"
	"os"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/run/message"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/public"
)

// openPublic opens a public dataset.
func openPublic(ctx context.Context, b *config.Benchmark, d *config.Dataset, o public.Options, say *message.Reporter) (dataset.Dataset, error) {
	o = PublicOptions(b, d, o)
	o.Hub.Progress, o.Hub.Notice = say.Download, func(text string) { say.Note("%s", text) }
	return public.Open(ctx, o)
}

// PublicOptions fills in the options that the settings of a public dataset give.
func PublicOptions(b *config.Benchmark, d *config.Dataset, o public.Options) public.Options {
	o.Hub = hfhub.FromEnv(os.Getenv)
	o.Hub.Dir = d.DatasetPath
	o.Name, o.Subset, o.Repo, o.Entries, o.Cache = d.Dataset, d.HFSubset, d.HFWekaDataset, d.Entries, public.Cache
	for _, key := range slices.Sorted(maps.Keys(d.Filters)) {
		o.Filters = append(o.Filters, key+"="+d.Filters[key])
	}
	for i := range b.Phases {
		p := &b.Phases[i]
		if p.Kind == config.KindProfiling {
			o.Requests = max(o.Requests, config.Value(p.Requests))
			o.Scheduled = o.Scheduled || p.Type == config.PhaseFixedSchedule
		}
	}
	return o
}

// counter returns a function that counts tokens with the tokenizer that open returns.
func counter(open func() (*tokenizer.Tokenizer, error)) func() (func(string) int, error) {
	return func() (func(string) int, error) {
		tok, err := open()
		if err != nil {
			return nil, err
		}
		return tok.Count, nil
	}
}
