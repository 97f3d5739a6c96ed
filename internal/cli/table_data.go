package cli

import "aiperf/internal/cli/args"

// dataFlags are the flags of profile for the shape of generated and replayed text.
var dataFlags = concat(
	group("Conversation Input", []args.Flag{
		{Names: []string{"--num-sessions", "--conversation-num", "--num-conversations"}, Kind: args.Int, Bounds: ">= 1", Zero: true, Sweep: true, Tier: "S", Help: "stop starting sessions after this many"},
		{Names: []string{"--num-dataset-entries", "--num-prompts"}, Kind: args.Int, Bounds: ">= 1", Default: "--num-sessions, else --request-count, else 100", Tier: "S", Help: "conversations to generate"},
		{Names: []string{"--session-turns-mean", "--conversation-turn-mean"}, Kind: args.Int, Bounds: ">= 1", Default: "1", Sweep: true, Tier: "S", Help: "mean number of turns of a conversation"},
		{Names: []string{"--session-turns-stddev", "--conversation-turn-stddev"}, Kind: args.Int, Bounds: ">= 0", Default: "0", Tier: "S", Help: "spread of the number of turns"},
		{Names: []string{"--session-turn-delay-mean", "--conversation-turn-delay-mean"}, Kind: args.Float, Bounds: ">= 0", Default: "0", Tier: "S", Help: "mean pause before a following turn, in ms"},
		{Names: []string{"--session-turn-delay-stddev", "--conversation-turn-delay-stddev"}, Kind: args.Float, Bounds: ">= 0", Default: "0", Tier: "S", Help: "spread of that pause, in ms"},
		{Names: []string{"--session-delay-ratio", "--conversation-turn-delay-ratio"}, Kind: args.Float, Bounds: ">= 0", Default: "1", Tier: "S", Help: "factor for every pause, generated or read"},
		{Names: []string{"--inter-turn-delay-cap-seconds"}, Kind: args.Float, Bounds: ">= 0", Tier: "U", Help: "longest pause between turns of a trace, in s"},
		{Names: []string{"--max-idle-gap-cap-seconds"}, Kind: args.Float, Bounds: "> 0", NotBuilt: true, Tier: "U", Help: "longest idle gap of a trace, in s"},
		{Names: []string{"--replay-speedup"}, Kind: args.Float, Bounds: "> 0", NotBuilt: true, Tier: "U", Help: "replay a Baseten trace faster by this factor"},
		{Names: []string{"--open-loop-replay"}, Not: []string{"--no-open-loop-replay"}, Kind: args.Bool, Default: "on", NotBuilt: true, Tier: "U", Help: "keep the trace's instants whatever the server does"},
		{Names: []string{"--open-loop-strict"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "fail when an instant cannot be kept"},
		{Names: []string{"--omit-kv-hints"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "leave cache hints out of the bodies"},
		{Names: []string{"--force-min-tokens"}, Not: []string{"--no-force-min-tokens"}, Kind: args.Bool, Default: "on", NotBuilt: true, Tier: "U", Help: "make the server produce the traced length"},
	}),
	group("Prompt", []args.Flag{
		{Names: []string{"--batch-size-text", "--prompt-batch-size", "--batch-size", "-b"}, Kind: args.Int, Bounds: ">= 1", Default: "1", Tier: "S", Help: "texts in one request"},
		{Names: []string{"--prompt-corpus"}, Kind: args.Enum, Choices: []string{"sonnet", "coding", "random"}, Default: "sonnet", Tier: "U", Help: "text that prompts are cut from"},
	}),
	group("Cache Bust", []args.Flag{
		{Names: []string{"--cache-bust"}, Kind: args.Enum, Choices: []string{"none", "system_prefix", "system_suffix", "first_turn_prefix", "first_turn_suffix", "warmup_isolation_system", "warmup_isolation_first_turn"}, Default: "none", NotBuilt: true, Tier: "U", Help: "where a marker goes that defeats prefix caches"},
	}),
	group("Prefix Prompt", []args.Flag{
		{Names: []string{"--num-prefix-prompts", "--prompt-prefix-pool-size", "--prefix-prompt-pool-size"}, Kind: args.Int, Bounds: ">= 0", Default: "0", Zero: true, Tier: "S", Help: "number of shared prefixes; 0 is none"},
		{Names: []string{"--prefix-prompt-length", "--prompt-prefix-length"}, Kind: args.Int, Bounds: ">= 0", Default: "0; 100 with --num-prefix-prompts", Zero: true, Tier: "S", Help: "length of a shared prefix, in tokens"},
		{Names: []string{"--shared-system-prompt-length"}, Kind: args.Int, Bounds: ">= 1", Tier: "S", Help: "length of the system prompt that all sessions share, in tokens"},
		{Names: []string{"--user-context-prompt-length"}, Kind: args.Int, Bounds: ">= 1", Tier: "S", Help: "length of the context of each session, in tokens"},
		{Names: []string{"--system-prompt"}, Kind: args.Text, Tier: "U", Help: "system prompt of every conversation"},
		{Names: []string{"--system-prompt-file"}, Kind: args.Path, Tier: "U", Help: "file with that system prompt"},
	}),
	group("Input Sequence Length (ISL)", []args.Flag{
		{Names: []string{"--isl", "--prompt-input-tokens-mean", "--synthetic-input-tokens-mean"}, Kind: args.Int, Bounds: ">= 0", Default: "550", Sweep: true, Tier: "S", Help: "mean length of a prompt, in tokens"},
		{Names: []string{"--isl-stddev", "--prompt-input-tokens-stddev", "--synthetic-input-tokens-stddev"}, Kind: args.Float, Bounds: ">= 0", Default: "0", Sweep: true, Tier: "S", Help: "spread of that length"},
		{Names: []string{"--isl-block-size", "--prompt-input-tokens-block-size", "--synthetic-input-tokens-block-size"}, Kind: args.Int, Bounds: ">= 1", Default: "512; 16 for bailian_trace", Tier: "S", Help: "tokens behind one hash id of a trace"},
		{Names: []string{"--seq-dist", "--sequence-distribution"}, Kind: args.Text, Tier: "S", Help: "weighted pairs of lengths: \"256,128:40;512,256:60\", shares in percent"},
		{Names: []string{"--random-range-ratio"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "draw lengths evenly around the mean, by this ratio"},
		{Names: []string{"--random-corpus-style"}, Kind: args.Enum, Choices: []string{"vllm", "sglang"}, Default: "vllm", NotBuilt: true, Tier: "U", Help: "whose random prompts to imitate"},
	}),
	group("Output Sequence Length (OSL)", []args.Flag{
		{Names: []string{"--osl", "--prompt-output-tokens-mean", "--output-tokens-mean"}, Kind: args.Int, Bounds: ">= 0", Sweep: true, Tier: "S", Help: "output length to ask for, in tokens"},
		{Names: []string{"--osl-stddev", "--prompt-output-tokens-stddev", "--output-tokens-stddev"}, Kind: args.Float, Bounds: ">= 0", Default: "0", Sweep: true, Tier: "S", Help: "spread of that length"},
	}),
	group("Rankings", []args.Flag{
		{Names: []string{"--rankings-passages-mean"}, Kind: args.Int, Bounds: ">= 1", Default: "1", Tier: "S", Help: "mean number of passages of a request"},
		{Names: []string{"--rankings-passages-stddev"}, Kind: args.Int, Bounds: ">= 0", Default: "0", Tier: "S", Help: "spread of that number"},
		{Names: []string{"--rankings-passages-prompt-token-mean"}, Kind: args.Int, Bounds: ">= 1", Default: "550", Tier: "S", Help: "mean length of a passage, in tokens"},
		{Names: []string{"--rankings-passages-prompt-token-stddev"}, Kind: args.Int, Bounds: ">= 0", Default: "0", Tier: "S", Help: "spread of that length"},
		{Names: []string{"--rankings-query-prompt-token-mean"}, Kind: args.Int, Bounds: ">= 1", Default: "550", Tier: "S", Help: "mean length of a query, in tokens"},
		{Names: []string{"--rankings-query-prompt-token-stddev"}, Kind: args.Int, Bounds: ">= 0", Default: "0", Tier: "S", Help: "spread of that length"},
	}),
	group("Synthesis", []args.Flag{
		{Names: []string{"--synthesis-speedup-ratio"}, Kind: args.Float, Bounds: "> 0", Default: "1", Tier: "S", Help: "replay a trace faster by this factor"},
		{Names: []string{"--synthesis-prefix-len-multiplier"}, Kind: args.Float, Bounds: "> 0", Default: "1", Tier: "S", Help: "factor for shared prefix lengths of a trace"},
		{Names: []string{"--synthesis-prefix-root-multiplier"}, Kind: args.Int, Bounds: ">= 1", Default: "1", Tier: "S", Help: "split the prefix tree of a trace into this many"},
		{Names: []string{"--synthesis-prompt-len-multiplier"}, Kind: args.Float, Bounds: "> 0", Default: "1", Tier: "S", Help: "factor for unshared prompt lengths of a trace"},
		{Names: []string{"--synthesis-output-len-multiplier"}, Kind: args.Float, Bounds: "> 0", Default: "1", Tier: "U", Help: "factor for output lengths of a trace"},
		{Names: []string{"--synthesis-max-isl"}, Kind: args.Int, Bounds: ">= 1", Tier: "S", Help: "leave out trace rows with longer inputs"},
		{Names: []string{"--synthesis-max-osl"}, Kind: args.Int, Bounds: ">= 1", Tier: "S", Help: "cut output lengths of a trace"},
	}),
)
