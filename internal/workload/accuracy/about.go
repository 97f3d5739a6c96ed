package accuracy

import (
	"context"
	"errors"

	"aiperf/internal/text/hfhub"
)

// Words for how much of a benchmark's dataset lies on this machine are those of package public: yes, part, no.

// Cached reports whether the cache holds all data that a benchmark needs with its default options: "yes", "part" or "no".
func (b *Benchmark) Cached(ctx context.Context, h hfhub.Config, release string) (string, error) {
	h.Content, h.Offline = hfhub.Datasets, "looking into the cache"
	if h.Stored(b.Repo, "main") == nil {
		return "no", nil
	}
	_, err := Load(ctx, Options{Benchmark: b.Name, Hub: h, Release: release})
	var missing *hfhub.Error
	var none *missingError
	switch {
	case err == nil:
		return "yes", nil
	case errors.As(err, &missing) && missing.Kind == hfhub.Offline, errors.As(err, &none):
		return "part", nil
	}
	return "", err
}
