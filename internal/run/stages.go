package run

import "log/slog"

// stage is one step of a run's start. What it needs is there from the stages before it.
type stage struct {
	name string
	do   func() error
}

// pass goes through stages until one refuses.
func pass(log *slog.Logger, stages []stage) error {
	for _, one := range stages {
		if err := one.do(); err != nil {
			log.Debug("refused", "stage", one.name, "error", err)
			return err
		}
	}
	return nil
}
