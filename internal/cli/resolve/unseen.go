package resolve

import (
	"os"

	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/custom"
)

// unseen reports whether a file is only on a volume of the pods that send the run.
func (r *resolver) unseen(path string) bool {
	if r.Mounted == nil || !r.Mounted(path) {
		return false
	}
	_, err := os.Stat(path)
	return err != nil
}

// unseenDataset fills in a dataset whose file only the pods can read. What its rows would decide here must be given.
func (r *resolver) unseenDataset(d *config.Dataset) {
	format, known := custom.Find(d.Format)
	pace := append([]string{"--fixed-schedule", "--no-fixed-schedule"}, PaceFlags...)
	switch {
	case !known:
		r.fail("%s %s is only on a volume of the pods, so its format cannot be detected here: give %s", r.spell("datasets.main.path"), d.Path, r.spell("datasets.main.format"))
		return
	case !r.fromFile && format.Times && r.set.Get("--fixed-schedule") == nil && len(r.given(pace...)) == 0:
		r.fail("%s %s is only on a volume of the pods, so nothing here knows whether its rows have times: give --fixed-schedule or --no-fixed-schedule", r.spell("datasets.main.path"), d.Path)
		return
	case !r.fromFile && format.Name == "dag_jsonl" && len(r.given("--request-count", "--num-sessions", "--benchmark-duration")) == 0:
		r.fail("%s %s is only on a volume of the pods, so nothing here knows how many sessions it has: give --num-sessions", r.spell("datasets.main.path"), d.Path)
		return
	}
	r.storeSample(d, custom.Unseen(format, r.fromFile || r.on("--fixed-schedule")), nil)
}
