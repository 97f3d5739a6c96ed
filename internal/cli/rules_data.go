package cli

import (
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/dataset/synth"
	"aiperf/internal/endpoint"
)

func withFile(r *resolver) bool { return r.file != nil }

// asks reports whether a file already asks for an output length.
func (r *resolver) asks() bool {
	d := r.run.Dataset()
	return r.over && (d.OSL.MeanOr(0) > 0 || d.Prompts != nil && d.Prompts.OSL.MeanOr(0) > 0)
}

// encodings says which encodings of bodies an endpoint type knows.
func encodings(e *endpoint.Endpoint) string {
	if e == nil || e.Forms == endpoint.FormsOnly {
		return "the endpoint type sends forms only (multipart/form-data)"
	}
	var forms []string
	for _, other := range endpoint.All() {
		if other.Forms != endpoint.JSONOnly {
			forms = append(forms, other.Name)
		}
	}
	return "endpoint type " + e.Name + " sends JSON only; forms are for " + strings.Join(forms, ", ")
}

// verbatim reports whether bodies come ready from a file.
func verbatim(r *resolver) bool { return r.file != nil && r.file.Format.Verbatim() }

// unpublished reports whether the conversations come from no published set.
func unpublished(r *resolver) bool { return r.run.Dataset().Type != config.DatasetPublic }

func generated(r *resolver) bool { return !ownData(r) }

// ownData reports whether conversations come from outside: a file or a public set.
func ownData(r *resolver) bool {
	d := r.run.Dataset()
	return d.Path != "" || d.Records != nil || r.has("--public-dataset")
}

// bust is where a marker goes that defeats prefix caches.
func bust(r *resolver) string { return r.run.Dataset().CacheBustTarget() }

// neither reports whether the endpoint type takes and gives no text.
func neither(r *resolver) bool {
	return r.endpoint != nil && !r.endpoint.TokenizesInput && !r.endpoint.ProducesTokens
}

func unranked(r *resolver) bool { return !r.ranks() }

// untraced reports whether there is no recorded traffic to replay.
func untraced(r *resolver) bool { return r.file == nil || !r.file.Format.Trace }

var (
	synthesisFlags = flagsOf(withKey("datasets.main.synthesis."))
	rankingFlags   = flagsOf(withKey("datasets.main.rankings."))
	imageFlags     = flagsOf(withKey("datasets.main.images."))
	audioFlags     = flagsOf(withKey("datasets.main.audio."))
	videoFlags     = flagsOf(withKey("datasets.main.video."))
)

// mediaWithout tells of media that the endpoint type does not send.
func mediaWithout(what string, flags []string, takes func(*endpoint.Endpoint) bool) func(*resolver) (string, bool) {
	return func(r *resolver) (string, bool) {
		names := r.given(flags...)
		return strings.Join(names, ", ") + " has no effect: endpoint type " + r.run.Endpoint.Type + " sends no " + what, len(names) > 0 && r.endpoint != nil && !takes(r.endpoint) && !ownData(r)
	}
}

// dataRules say which data flags exclude or need each other.
var dataRules = []rule{
	{row: "32", test: together("--public-dataset", "--input-file", "give one source of data")},
	{row: "32", test: together("--public-dataset", "--custom-dataset-type", "the type is for --input-file")},
	{row: "33", test: func(r *resolver) (string, bool) {
		return r.as("--custom-dataset-type") + " needs --input-file: it is the format of that file", r.has("--custom-dataset-type") && !ownData(r)
	}},
	{row: "34", test: anyWhen(unpublished, "needs --public-dataset: it chooses among its rows", "--dataset-filter")},
	{row: "honest", test: anyWhen(unpublished, "has no effect: it names a part of a --public-dataset", "--hf-subset"), warn: true},
	{row: "35", test: anyWhen(func(r *resolver) bool { return untraced(r) && r.run.Dataset().Synthesis != nil }, "needs a trace as --input-file", synthesisFlags...)},
	{row: "5.2", test: func(r *resolver) (string, bool) {
		own := r.given("--system-prompt", "--system-prompt-file")
		made := r.given("--shared-system-prompt-length", "--num-prefix-prompts", "--prefix-prompt-length")
		return strings.Join(own, ", ") + " and " + strings.Join(made, ", ") + ": give your own text or generated text, not both", len(own) > 0 && len(made) > 0
	}},
	{row: "5.2", test: anyWhen(func(r *resolver) bool { return r.endpoint != nil && !r.endpoint.SystemMessage },
		"is for endpoint types that take system messages", "--system-prompt", "--system-prompt-file")},
	{row: "5.2", test: anyWhen(verbatim, "has no place beside bodies that are sent as they stand in --input-file", "--system-prompt", "--system-prompt-file")},
	{row: "38", test: anyWhen(ownData, "is for generated prompts and has no place beside --input-file or --public-dataset",
		"--isl", "--isl-stddev", "--seq-dist", "--random-range-ratio", "--random-corpus-style", "--num-prefix-prompts", "--prefix-prompt-length",
		"--image-source", "--image-source-sampling", "--session-turns-mean", "--session-turns-stddev",
		"--session-turn-delay-mean", "--session-turn-delay-stddev")},
	{row: "38", test: anyWhen(func(r *resolver) bool { return ownData(r) && !(withFile(r) && r.file.Format.Sampled) },
		"is for generated prompts and for files of type random_pool", "--batch-size-text", "--audio-batch-size", "--image-batch-size", "--video-batch-size")},
	{row: "honest", test: anyWhen(ownData, "has no effect: it is for generated data, not for --input-file or --public-dataset",
		slices.DeleteFunc(slices.Concat(imageFlags, audioFlags, videoFlags), func(f string) bool {
			return strings.HasSuffix(f, "-batch-size") || strings.HasPrefix(f, "--image-source")
		})...), warn: true},
	{row: "4.3", test: anyWhen(func(r *resolver) bool { return !ownData(r) && !r.run.Dataset().Images.Enabled() },
		"has no effect: --image-width-mean or --image-height-mean brings pictures", imageFlags...), warn: true},
	{row: "4.3", test: anyWhen(func(r *resolver) bool { return !ownData(r) && !r.run.Dataset().Audio.Enabled() },
		"has no effect: --audio-length-mean brings sounds", audioFlags...), warn: true},
	{row: "4.3", test: anyWhen(func(r *resolver) bool {
		v := r.run.Dataset().Video
		return !ownData(r) && (v == nil || v.Width == nil && v.Height == nil)
	}, "has no effect: --video-width and --video-height bring clips", videoFlags...), warn: true},
	{row: "honest", test: mediaWithout("pictures", imageFlags, func(e *endpoint.Endpoint) bool { return e.Images }), warn: true},
	{row: "honest", test: mediaWithout("sounds", audioFlags, func(e *endpoint.Endpoint) bool { return e.Audio }), warn: true},
	{row: "honest", test: mediaWithout("clips", videoFlags, func(e *endpoint.Endpoint) bool { return e.Video }), warn: true},
	{row: "66", test: anyWhen(func(r *resolver) bool {
		return r.endpoint != nil && !r.endpoint.CacheBust && bust(r) != config.CacheBustNone
	},
		"is for endpoint types chat, responses and messages", "--cache-bust")},
	{row: "66", test: anyWhen(func(r *resolver) bool { return verbatim(r) && bust(r) != config.CacheBustNone },
		"has no place in bodies that are sent as they stand in --input-file", "--cache-bust")},
	{row: "66", test: func(r *resolver) (string, bool) {
		target, d := bust(r), r.run.Dataset()
		system := d.SystemPrompt != "" || d.SystemPromptFile != "" || d.PrefixPrompts != nil && d.PrefixPrompts.SharedSystemLength > 0
		return r.as("--cache-bust") + " " + target + " needs a system prompt: --shared-system-prompt-length or --system-prompt, or take a first_turn target",
			strings.Contains(target, "system") && generated(r) && !system
	}},
	{row: "66", test: anyWhen(func(r *resolver) bool {
		return strings.HasPrefix(bust(r), "warmup_isolation") && len(r.run.Phases) == 1
	}, "has no effect without a warm-up", "--cache-bust"), warn: true},
	{row: "39", test: func(r *resolver) (string, bool) {
		return r.as("--isl-block-size") + " is for traces with hash ids", r.has("--isl-block-size") && untraced(r) && withFile(r)
	}},
	{row: "40", test: anyWhen(unranked, "has no effect: the endpoint type does not rank", rankingFlags...), warn: true},
	{row: "41", test: anyWhen((*resolver).ranks, "has no effect on a ranking type; see --rankings-query-prompt-token-mean and --rankings-passages-prompt-token-mean",
		"--isl", "--isl-stddev"), warn: true},
	{row: "honest", test: anyWhen((*resolver).ranks, "has no effect on a ranking type: a request is one query and its passages",
		"--seq-dist", "--batch-size-text", "--num-prefix-prompts", "--prefix-prompt-length", "--session-turns-mean", "--session-turns-stddev",
		"--session-turn-delay-mean", "--session-turn-delay-stddev"), warn: true},
	{row: "5.3", test: func(r *resolver) (string, bool) {
		return r.as("--osl-stddev") + " has no effect without --osl: there is no length to spread", r.has("--osl-stddev") && !r.has("--osl") && !r.asks()
	}, warn: true},
	{row: "6.1", test: anyWhen(func(r *resolver) bool { return r.has("--seq-dist") }, "has no effect: --seq-dist overrides it", "--isl", "--isl-stddev", "--osl", "--osl-stddev"), warn: true},
	{row: "7", test: anyWhen(func(r *resolver) bool { return r.endpoint != nil && !r.endpoint.ProducesTokens }, "has no effect: the endpoint type produces no tokens", "--osl", "--osl-stddev"), warn: true},
	{row: "61", test: anyWhen(neither, "is for text, which --endpoint-type neither takes nor gives",
		"--isl", "--isl-stddev", "--osl", "--osl-stddev", "--seq-dist", "--batch-size-text", "--num-prefix-prompts", "--prefix-prompt-length",
		"--shared-system-prompt-length", "--user-context-prompt-length", "--tokenizer", "--tokenizer-revision", "--tokenizer-trust-remote-code")},
	{row: "2.1 MustStream", test: func(r *resolver) (string, bool) {
		return "--endpoint-type " + r.run.Endpoint.Type + " works with --streaming only", r.endpoint != nil && r.endpoint.MustStream && !r.run.Endpoint.Streaming
	}},
	{row: "62", test: func(r *resolver) (string, bool) {
		_, given := r.run.Endpoint.Extra.Get("payload_template")
		return "--endpoint-type template needs --extra-inputs payload_template (or endpoint.template.body in a file): the template of its bodies",
			r.run.Endpoint.Type == "template" && !given && (r.run.Endpoint.Template == nil || r.run.Endpoint.Template.Body == "")
	}},
	{row: "9.16", test: func(r *resolver) (string, bool) {
		return "endpoint.template is for --endpoint-type template", r.run.Endpoint.Template != nil && r.run.Endpoint.Type != "template"
	}},
	{row: "11.3", test: func(r *resolver) (string, bool) {
		return r.as("--output-tokens-mean-deterministic") + ": endpoint type generate has no input for a least length",
			r.run.Endpoint.Type == "generate" && r.on("--output-tokens-mean-deterministic")
	}},
	{row: "13", test: func(r *resolver) (string, bool) {
		_, eos := r.run.Endpoint.Extra.Get("ignore_eos")
		_, least := r.run.Endpoint.Extra.Get("min_tokens")
		return r.as("--osl") + " without ignore_eos or min_tokens in --extra-inputs: answers may end earlier",
			r.has("--osl") && r.endpoint != nil && r.endpoint.ProducesTokens && !eos && !least && !r.mocked()
	}, warn: true},
	{row: "honest", test: anyWhen(func(r *resolver) bool { return withFile(r) && !r.file.Format.Sampled }, "has no effect: a file has as many entries as it holds; see --num-sessions and --request-count", "--num-dataset-entries"), warn: true},
	{row: "honest", test: anyWhen(verbatim, "has no effect: bodies are sent as they stand in --input-file",
		"--osl", "--osl-stddev", "--extra-inputs", "--use-legacy-max-tokens", "--output-tokens-mean-deterministic"), warn: true},
	{row: "honest", test: anyWhen(generated, "has no effect: generated prompts have no hash ids", "--isl-block-size"), warn: true},
	{row: "honest", test: anyWhen(generated, "has no effect: it is for pauses that a file states", "--inter-turn-delay-cap-seconds"), warn: true},
	{row: "honest", test: anyWhen(func(r *resolver) bool {
		return r.endpoint != nil && !r.endpoint.SystemMessage && !r.endpoint.ContextText
	},
		"has no effect: the endpoint type takes no system messages", "--shared-system-prompt-length", "--user-context-prompt-length"), warn: true},
	{row: "per-chunk usage", test: func(r *resolver) (string, bool) {
		e := &r.run.Endpoint
		return r.as("--per-chunk-usage") + " needs --endpoint-type chat, --streaming and --use-server-token-count: the count of the first content is the server's",
			e.PerChunkUsage && r.endpoint != nil && !(e.Type == "chat" && e.Streaming && e.UseServerTokenCount)
	}},
	{row: "2.1 content type", test: func(r *resolver) (string, bool) {
		e, asked := r.endpoint, r.run.Endpoint.RequestContentType
		return r.as("--request-content-type") + " " + asked + ": " + encodings(e), e != nil && !e.Accepts(asked)
	}},
	{row: "honest", test: anyWhen(func(r *resolver) bool { return r.endpoint != nil && !r.endpoint.FollowsUp }, "has no effect: it is for --endpoint-type video_generation", "--download-video-content"), warn: true},
	{row: "9.12 reserved", test: func(r *resolver) (string, bool) {
		var lost []string
		for _, m := range r.run.Endpoint.Extra {
			if r.endpoint != nil && slices.Contains(r.endpoint.Reserved, m.Key) {
				lost = append(lost, m.Key)
			}
		}
		return r.as("--extra-inputs") + " " + strings.Join(lost, ", ") + ": not sent; endpoint type " + r.run.Endpoint.Type + " fills these fields from the data", len(lost) > 0
	}, warn: true},
	{row: "63", test: func(r *resolver) (string, bool) {
		e := &r.run.Endpoint
		return r.as("--uuid-and-strip") + " needs --endpoint-type chat: other types send no ids of images", e.UUIDAndStrip && r.endpoint != nil && e.Type != "chat"
	}},
	{row: "63", test: func(r *resolver) (string, bool) {
		return r.as("--uuid-and-strip") + " needs single_turn rows of one session_id as --input-file",
			r.run.Endpoint.UUIDAndStrip && !(r.file != nil && r.file.Format.Name == "single_turn")
	}},
	{row: "prompt corpus", test: func(r *resolver) (string, bool) {
		c := r.set.Text("--prompt-corpus", "sonnet")
		return r.as("--prompt-corpus") + " random: prompts of a file that states lengths are cut from a text: sonnet or coding", c == "random" && withFile(r)
	}},
	{row: "3.3 ratio", test: func(r *resolver) (string, bool) {
		p := r.run.Dataset().Prompts
		if p == nil || p.RandomRangeRatio == "" {
			return "", false
		}
		name := r.as("--random-range-ratio")
		if _, err := synth.ParseRatio(p.RandomRangeRatio, synth.Style(p.RandomCorpusStyle)); err != nil {
			return name + ": " + err.Error(), true
		}
		return name + " needs --isl and --osl of at least 1: it is a window around both", !(p.ISL.MeanOr(0) >= 1 && p.OSL.MeanOr(0) >= 1) || !r.has("--isl") && !r.over
	}},
	{row: "3.3 style", test: func(r *resolver) (string, bool) {
		p := r.run.Dataset().Prompts
		return r.as("--random-corpus-style") + " has no effect without --prompt-corpus random or --random-range-ratio",
			r.has("--random-corpus-style") && p != nil && p.Corpus != "random" && p.RandomRangeRatio == ""
	}, warn: true},
	{row: "3.3 exclusive", test: anyWhen(func(r *resolver) bool {
		p := r.run.Dataset().Prompts
		return p != nil && p.RandomRangeRatio != ""
	}, "and --random-range-ratio exclude each other", "--seq-dist", "--isl-stddev", "--osl-stddev")},
}
