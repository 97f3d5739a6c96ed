package plan

import (
	"fmt"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/artifact"
)

// previous moves the results of the previous run next to the directory of this one, once. The default directory is named by model and load, so a
// repeated command uses it again.
func (i *invocation) previous() (err error) {
	if !i.run.Artifacts.KeepPrevious || i.run.Resume {
		return nil
	}
	i.rotated.Do(func() {
		layout := artifact.NewLayout(i.run.Artifacts.Dir, i.run.Artifacts.Prefix)
		var moved bool
		moved, err = layout.KeepPrevious(i.reads)
		if err != nil {
			err = fmt.Errorf("%s %w", i.run.As("artifacts.dir"), err)
		} else if moved {
			fmt.Fprintf(i.Err, "aiperf: the results of the previous run were moved to %s\n", terminal.Line(artifact.Previous(layout.Dir)))
		}
	})
	return err
}
