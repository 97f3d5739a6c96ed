package rules

import (
	"strings"

	"aiperf/internal/workload/dataset/public"
	"aiperf/internal/workload/dataset/synth"
)

// Groups of keys that several rules use.
var (
	inputLengths  = []string{prompts + "isl"}
	outputLengths = []string{prompts + "osl", data + "osl"}
	prefixPool    = []string{data + "prefix_prompts.pool_size", data + "prefix_prompts.length"}
	turnShape     = []string{data + "turns", data + "turn_delay"}
	ownSystem     = []string{data + "system_prompt", data + "system_prompt_file"}
	blockSize     = []string{prompts + "block_size", data + "block_size"}
)

func join(lists ...[]string) (keys []string) {
	for _, list := range lists {
		keys = append(keys, list...)
	}
	return keys
}

// dataRules lists which settings of the conversations exclude or need each other.
var dataRules = []rule{
	exclusive("32", data+"dataset", data+"path", "give one source of data"),
	exclusive("32", data+"dataset", data+"format", "the type is for {"+data+"path}"),
	{row: "33", keys: []string{data + "format"}, when: syntheticData, text: "needs {" + data + "path}: it is the format of that file"},
	{row: "ours", keys: []string{data + "input_column"}, when: syntheticData, text: "needs {" + data + "path}: it names the key or the column of that file"},
	exclusive("ours", data+"dataset", data+"input_column", "the column belongs to the file of {"+data+"path}"),
	{row: "45", keys: []string{data + "filters"}, when: notPublic, text: "needs {" + data + "dataset}: it chooses among its rows"},
	{row: "45", keys: []string{data + "hf_subset"}, when: notPublic, text: "needs {" + data + "dataset}: it names a part of it"},
	{row: "ours", keys: []string{data + "dataset_path"}, when: notPublic, text: "needs {" + data + "dataset}: it is a copy of that dataset's repository"},
	{row: "35", keys: []string{data + "synthesis"}, when: all(noTrace, func(s *Subject) bool { return s.Dataset().Synthesis != nil }),
		text: "needs a trace as {" + data + "path}", level: unused},

	{row: "5.2", keys: ownSystem, when: func(s *Subject) bool {
		return s.isGiven(join(prefixPool, []string{data + "prefix_prompts.shared_system_length"})...)
	},
		problem: func(s *Subject) string {
			var made []string
			for _, one := range s.given(data+"prefix_prompts.shared_system_length", prefixPool[0], prefixPool[1]) {
				made = append(made, one.Text)
			}
			return "and " + strings.Join(made, ", ") + ": give your own text or generated text, not both"
		}},
	{row: "5.2", keys: ownSystem, when: func(s *Subject) bool { return s.Endpoint != nil && !s.Endpoint.SystemMessage }, text: "is for endpoint types that take system messages"},
	{row: "5.2", keys: ownSystem, when: completeBodies, text: "has no place with bodies that are sent unchanged from {" + data + "path}"},

	{row: "5.2", keys: []string{data + "prefix_prompts.shared_system_length", data + "prefix_prompts.user_context_length"}, when: completeBodies,
		text: "has no place with bodies that are sent unchanged from {" + data + "path}"},

	{row: "38", keys: join(inputLengths, []string{prompts + "sequence_distribution", prompts + "random_range_ratio", prompts + "random_corpus_style"}, prefixPool,
		[]string{data + "images.source", data + "images.source_sampling"}, turnShape), when: externalData,
		text: "is for generated prompts and cannot be combined with {" + data + "path} or {" + data + "dataset}", level: unused},
	{row: "38", keys: []string{prompts + "batch_size", data + "audio.batch_size", data + "images.batch_size", data + "video.batch_size",
		data + "prompt_batch_size", data + "audio_batch_size", data + "image_batch_size", data + "video_batch_size"}, when: all(externalData, not(sampledFile)),
		text: "is for generated prompts and for files of type random_pool", level: unused},
	{row: "38", keys: []string{prompts + "batch_size"}, when: all(not(sampledFile), func(s *Subject) bool { p := s.Dataset().Prompts; return p != nil && p.BatchSize == 0 }),
		text: "must be at least 1; 0 leaves out the texts of a file of type random_pool"},
	{row: "39", keys: blockSize, when: blockSizeUnused, text: "is for trace files with hash ids that do not state the block size", level: unused},
	exclusive("42", data+"ignore_trace_delays", data+"use_think_time_only", "the recorded times are either dropped or partly kept"),
	{row: "43", keys: []string{data + "max_context_length"}, when: noAgents, text: "is for recorded agents: files and public datasets of type weka_trace or tracelab", level: unused},
	{row: "43", keys: []string{data + "ignore_trace_delays", data + "use_think_time_only", data + "trace_idle_gap_cap_seconds"}, when: noAgents,
		text: "has no effect: it is for recorded agents (files and public datasets of type weka_trace or tracelab)", level: warning},
	{row: "43", keys: []string{data + "max_idle_gap_cap_seconds", data + "replay_speedup", data + "open_loop_replay", data + "open_loop_strict", data + "omit_kv_hints",
		data + "force_min_tokens", data + "trace_session_sample_ratio"}, when: noColumns, text: "is for files of type baseten_trace", level: unused},
	{row: "43", keys: []string{data + "open_loop_strict"}, when: func(s *Subject) bool { d := s.Dataset(); return d.OpenLoopReplay != nil && !*d.OpenLoopReplay },
		text: "has no effect without {" + data + "open_loop_replay}: without it every session waits for its answers", level: warning},
	{row: "44", keys: []string{"endpoint.extra"}, when: not(noColumns), problem: membersOfTrace},
	{row: "2", keys: []string{data + "hf_weka_dataset"}, when: func(s *Subject) bool { set := s.publicSet(); return set == nil || set.Name != public.AnyAgents },
		text: "needs {" + data + "dataset} " + public.AnyAgents + ", or leave {" + data + "dataset} out: other public datasets have their own repository"},
	{row: "2", problem: func(s *Subject) string {
		if set := s.publicSet(); set == nil || set.Name != public.AnyAgents || s.Dataset().HFWekaDataset != "" {
			return ""
		}
		return "{" + data + "dataset} " + public.AnyAgents + " needs {" + data + "hf_weka_dataset}: the repository, OWNER/NAME"
	}},
	{row: "honest", keys: blockSize, when: syntheticData, text: "has no effect: generated prompts have no hash ids", level: warning},
	{row: "honest", keys: []string{data + "inter_turn_delay_cap_seconds"}, when: syntheticData, text: "has no effect: it is for pauses recorded in a file", level: warning},
	{row: "honest", keys: []string{data + "entries"}, when: all(hasFile, not(sampledFile)), text: "has no effect: the file decides the number of entries; see {" + measured + "sessions} and {" + measured + "requests}", level: warning},
	{row: "prompt corpus", keys: []string{prompts + "corpus"}, when: all(hasFile, not(noTrace), func(s *Subject) bool { return s.Lookup(prompts+"corpus") == "random" }),
		text: "random: prompts of a file that states lengths are cut from a text: sonnet or coding"},

	{row: "66", keys: cacheBust, when: all(bustsCache, func(s *Subject) bool { return s.Endpoint != nil && !s.Endpoint.CacheBust }),
		text: "is for endpoint types chat, responses and messages"},
	{row: "66", keys: cacheBust, when: all(bustsCache, completeBodies), text: "has no place in bodies that are sent unchanged from {" + data + "path}"},
	{row: "66", keys: cacheBust, when: all(syntheticData, func(s *Subject) bool { return strings.Contains(cacheBustTarget(s), "system") && !systemPrompt(s) }),
		problem: func(s *Subject) string {
			return cacheBustTarget(s) + " needs a system prompt: {" + data + "prefix_prompts.shared_system_length} or {" + data + "system_prompt}, or take a first_turn target"
		}},
	{row: "66", keys: cacheBust, when: all(replayed, func(s *Subject) bool { return strings.HasPrefix(cacheBustTarget(s), "warmup_isolation") }),
		text: "marks only the warm-up, but sessions of an agentic replay continue after it: choose another target"},
	{row: "66", keys: cacheBust, when: func(s *Subject) bool {
		return strings.HasPrefix(cacheBustTarget(s), "warmup_isolation") && len(s.Phases) == 1 && !replayed(s)
	},
		text: "has no effect without a warm-up", level: warning},

	{row: "5.3", keys: outputLengths, when: func(s *Subject) bool { return outputLength(s) <= 0 && !s.isGiven(prompts+"osl.mean", data+"osl.mean") },
		text: "has no effect without {" + prompts + "osl.mean}: there is no length to spread", level: warning},
	{row: "6.1", keys: join(inputLengths, outputLengths), when: func(s *Subject) bool { return s.isGiven(prompts + "sequence_distribution") },
		text: "has no effect: {" + prompts + "sequence_distribution} overrides it", level: warning},
	{row: "3.3 ratio", keys: []string{prompts + "random_range_ratio"}, problem: ratioError},
	{row: "3.3 style", keys: []string{prompts + "random_corpus_style"}, when: func(s *Subject) bool {
		p := s.Dataset().Prompts
		return p != nil && p.Corpus != "random" && p.RandomRangeRatio == ""
	}, text: "has no effect without {" + prompts + "corpus} random or {" + prompts + "random_range_ratio}", level: warning},
	{row: "3.3 exclusive", keys: []string{prompts + "sequence_distribution", prompts + "isl.stddev", prompts + "osl.stddev"},
		when: func(s *Subject) bool { p := s.Dataset().Prompts; return p != nil && p.RandomRangeRatio != "" },
		text: "and {" + prompts + "random_range_ratio} exclude each other"},
}

var cacheBust = []string{prompts + "cache_bust", data + "cache_bust"}

// membersOfTrace reports members of bodies that the user gives and a trace in columns also writes; "" = none.
func membersOfTrace(s *Subject) string {
	var taken []string
	d := s.Dataset()
	forced := d.ForceMinTokens == nil || *d.ForceMinTokens
	for _, w := range []struct {
		key    string
		own    bool
		freeBy string
	}{{"min_tokens", forced, "{" + data + "force_min_tokens} off"}, {"hash_ids", !d.OmitKVHints, "{" + data + "omit_kv_hints} on"},
		{"block_size", !d.OmitKVHints, "{" + data + "omit_kv_hints} on"}} {
		if _, given := s.Run.Endpoint.Extra.Get(w.key); given && w.own {
			taken = append(taken, w.key+" (unless "+w.freeBy+")")
		}
	}
	if taken == nil {
		return ""
	}
	return "has members that the trace writes into every body: " + strings.Join(taken, ", ")
}

// systemPrompt reports whether conversations begin with a system prompt.
func systemPrompt(s *Subject) bool {
	d := s.Dataset()
	return d.SystemPrompt != "" || d.SystemPromptFile != "" || d.PrefixPrompts != nil && d.PrefixPrompts.SharedSystemLength > 0
}

// ratioError returns what is wrong with the random range around both lengths; "" = nothing.
func ratioError(s *Subject) string {
	p := s.Dataset().Prompts
	if p == nil || p.RandomRangeRatio == "" {
		return ""
	}
	if _, err := synth.ParseRatio(p.RandomRangeRatio, synth.Style(p.RandomCorpusStyle)); err != nil {
		return ": " + err.Error()
	}
	if s.isGiven(prompts+"isl") && p.ISL.MeanOr(0) >= 1 && p.OSL.MeanOr(0) >= 1 {
		return ""
	}
	return "needs {" + prompts + "isl.mean} and {" + prompts + "osl.mean} of at least 1: it is a window around both"
}
