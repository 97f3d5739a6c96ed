package run

// stage is one step of the start of a run. It may use the results of the stages before it.
type stage struct {
	name string
	do   func() error
}

// runStages runs stages until one returns an error.
func runStages(say *reporter, stages []stage) error {
	for _, one := range stages {
		say.view.Stage(one.name, false)
		if err := one.do(); err != nil {
			say.Log.Debug("refused", "stage", one.name, "error", err)
			return err
		}
		say.view.Stage(one.name, true)
	}
	return nil
}
