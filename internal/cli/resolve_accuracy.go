package cli

import (
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/accuracy"
	"aiperf/internal/accuracy/grade"
	"aiperf/internal/config"
)

// accuracyFlags are those of benchmarks whose answers are graded.
var accuracyFlags = flagsOf(withKey("accuracy."))

// accuracy fills which benchmark is asked, and refuses what speaks against its problems.
func (r *resolver) accuracy() {
	given := r.given(accuracyFlags...)
	if len(given) > 0 && r.run.Accuracy == nil {
		r.run.Accuracy = &config.Accuracy{}
	}
	a := r.run.Accuracy
	if a == nil {
		return
	}
	r.bind("accuracy.")
	if r.has("--accuracy-tasks") {
		a.Tasks = slices.DeleteFunc(a.Tasks, func(t string) bool { return t == "" })
	}
	if a.Benchmark == "" {
		r.fail("%s needs %s: one of %s", strings.Join(given, ", "), r.spell("accuracy.benchmark"), strings.Join(accuracy.Names(), ", "))
		return
	}
	asked := accuracy.Options{Benchmark: a.Benchmark, Tasks: a.Tasks, Shots: a.NShots, CoT: a.EnableCoT, Spell: r.spell}
	if err := accuracy.Check(asked); err != nil {
		r.fail("%v", err)
	}
	if a.Grader != "" {
		if _, err := grade.Find(a.Grader); err != nil {
			r.fail("%s: %v", r.spell("accuracy.grader"), err)
		}
	}
	r.withoutOtherData()
	if !slices.ContainsFunc(r.run.Endpoint.Extra, func(e config.Member) bool { return e.Key == "temperature" && isZero(e.Value) }) {
		r.warn("answers vary where the temperature is not 0: --extra-inputs temperature:0 gives the scores that others report")
	}
}

// withoutOtherData refuses sources and orders of conversations beside the problems.
func (r *resolver) withoutOtherData() {
	d, why := r.run.Dataset(), r.spell("accuracy.benchmark")
	if d.Type != config.DatasetSynthetic {
		source := append(r.given("--input-file", "--public-dataset"), r.spell("datasets.main.type"))[0]
		r.fail("%s: the problems of %s are what is sent; leave one of them out", source, why)
	}
	if d.Sampling != config.SampleSequential && d.Sampling != "" {
		r.fail("%s %s: the problems of %s are asked in their order", r.spell("datasets.main.sampling"), d.Sampling, why)
	}
	if names := r.given("--fixed-schedule", "--user-centric-rate"); len(names) > 0 {
		r.fail("%s: the problems of %s are single requests without times", strings.Join(names, ", "), why)
	}
	if names := r.given("--isl", "--isl-stddev", "--osl", "--osl-stddev", "--seq-dist", "--system-prompt", "--num-dataset-entries"); len(names) > 0 {
		r.warn("%s: no effect, the problems of %s are what is sent", strings.Join(names, ", "), why)
	}
	if e := r.endpoint; e != nil && (!e.TokenizesInput || !e.ProducesTokens) {
		r.fail("%s: endpoint type %s does not answer text with text", why, e.Name)
	}
}

// isZero tells whether a JSON value is the number 0.
func isZero(raw []byte) bool {
	v, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && v == 0
}
