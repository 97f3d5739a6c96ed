package run

// stage is one step of a run's start. What it needs is there from the stages before it.
type stage struct {
	name string
	do   func() error
}

// pass goes through stages until one refuses.
func pass(say *reporter, stages []stage) error {
	for _, one := range stages {
		say.view.stage(one.name, false)
		if err := one.do(); err != nil {
			say.log.Debug("refused", "stage", one.name, "error", err)
			return err
		}
		say.view.stage(one.name, true)
	}
	return nil
}
