package accuracy

import (
	"context"
	"errors"

	"aiperf/internal/hub"
)

// Words for how much of a benchmark's dataset lies on this machine are those of package public: yes, part, no.

// Cached tells whether the cache holds all that a benchmark asks as it is by default: "yes", "part" or "no".
func (b *Benchmark) Cached(ctx context.Context, h hub.Config, release string) (string, error) {
	h.Content, h.Offline = hub.Datasets, "looking into the cache"
	if h.Stored(b.Repo, "main") == nil {
		return "no", nil
	}
	_, err := Load(ctx, Options{Benchmark: b.Name, Hub: h, Release: release})
	var missing *hub.Error
	var none *missingError
	switch {
	case err == nil:
		return "yes", nil
	case errors.As(err, &missing) && missing.Kind == hub.Offline, errors.As(err, &none):
		return "part", nil
	}
	return "", err
}
