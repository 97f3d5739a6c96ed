package public

import "aiperf/internal/base/jsontext"

// AnyAgents is the set of recorded agents whose repository the user names.
const AnyAgents = "weka_hf"

// traceColumns are the columns of recorded agents. All columns are read, because a column outside of the schema is an error.
var traceColumns = []string{"id", "models", "block_size", "hash_id_scope", "requests"}

// traces returns sets of recorded agents in the schema of Weka traces.
func traces() (sets []Set) {
	add := func(name, repo string) {
		sets = append(sets, Set{Name: name, Repo: repo, Split: "train", Modality: "text", Agents: true, whole: true, columns: traceColumns, open: recordedAgents})
	}
	const prefix, repos = "semianalysis_cc_traces_weka", "semianalysisai/cc-traces-weka-"
	add(prefix, repos+"no-subagents-051826")
	add(prefix+"_no_subagents", repos+"no-subagents-051826")
	add(prefix+"_with_subagents", repos+"062126")
	add(prefix+"_with_subagents_256k", repos+"062126-256k")
	for _, release := range []string{"060226", "060526", "060826"} {
		add(prefix+"_with_subagents_"+release, repos+"with-subagents-"+release)
		add(prefix+"_with_subagents_"+release+"_256k", repos+"with-subagents-"+release+"-256k")
	}
	for _, release := range []string{"061326", "061526", "062126"} {
		add(prefix+"_"+release, repos+release)
		add(prefix+"_"+release+"_256k", repos+release+"-256k")
	}
	add(AnyAgents, "")
	return sets
}

// recordedAgents replays the requests of a trace, including its sub-agents.
func recordedAgents(b *builder) (convert, error) {
	if s := b.options.Synthesis; s != nil && s.Changes() {
		return nil, b.Rescaled()
	}
	b.Coding()
	agents := b.Agents()
	b.done = func() error { return agents.Done(b.set.Name) }
	return func(r row) error {
		text, err := jsontext.Marshal(r.Row)
		if err != nil {
			return err
		}
		b.full = agents.AddJSON(r.where, text)
		return nil
	}, nil
}
