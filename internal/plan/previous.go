package plan

import (
	"fmt"

	"aiperf/internal/artifact"
	"aiperf/internal/run"
	"aiperf/internal/terminal"
)

// previous moves the results of the run before beside the directory of this one, once: the default directory is named by model and load, so that the
// next run of the same command meets them there.
func (i *invocation) previous() (err error) {
	if !i.run.Artifacts.KeepPrevious || i.run.Resume {
		return nil
	}
	i.rotated.Do(func() {
		layout := artifact.NewLayout(i.run.Artifacts.Dir, i.run.Artifacts.Prefix)
		var moved bool
		moved, err = layout.KeepPrevious(func(path string) bool { return run.Reads(&i.run.Benchmark, path) })
		if err != nil {
			err = fmt.Errorf("%s %w", i.run.As("artifacts.dir"), err)
		} else if moved {
			fmt.Fprintf(i.Err, "aiperf: the results of the run before are in %s now\n", terminal.Line(artifact.Previous(layout.Dir)))
		}
	})
	return err
}
