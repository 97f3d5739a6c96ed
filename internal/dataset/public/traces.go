package public

// traces are sets of recorded agent traffic in the schema of Weka traces.
func traces() (sets []Set) {
	add := func(name, repo string) {
		sets = append(sets, Set{Name: name, Repo: repo, Split: "train", Modality: "text"})
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
	add("weka_hf", "") // named by the user
	return sets
}
