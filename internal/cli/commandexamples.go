package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// commandExamples maps commands, without "aiperf", to their examples. Commands that define their own examples are not listed.
var commandExamples = map[string]string{
	"ab": "ab --a http://old:8000 --b http://new:8000 --model m --streaming --concurrency 8\nab --a mock:// --b mock://?ttft=60ms --model m --streaming --concurrency 4",

	"accuracy":       "accuracy grade --grader multiple_choice --answer \"The answer is B.\" --gold B",
	"accuracy grade": "accuracy grade --grader multiple_choice --answer \"The answer is B.\" --gold B",

	"chat":          "chat --url mock:// --model m --quick Hello\nchat --url http://localhost:8000 --api-key env:MY_KEY",
	"find-capacity": "find-capacity --url mock:// --model m --streaming --slo \"ttft:p99<200ms\"",
	"doctor":        "doctor\ndoctor --sample 30 --strict\ndoctor --json",
	"mock-server":   "mock-server --port 8000 --ttft 50ms",
	"watch":         "watch artifacts/my-run",
	"service":       "service system_controller run.yaml",
	"worker":        "worker --join tls://10.0.0.5:4222/CERTIFICATE --token-file token",

	"support-bundle":     "support-bundle artifacts/my-run\nsupport-bundle --list artifacts/my-run",
	"speed-bench-report": "speed-bench-report artifacts",
	"plot":               "plot artifacts/my-run\nplot --dashboard artifacts",
	"report":             "report artifacts/my-run\nreport --html artifacts/my-run",

	"dataset": "dataset describe prompts.csv\ndataset convert prompts.csv prompts.jsonl --to single_turn\ndataset pull aimo_aime",

	"tokenizer":        "tokenizer count \"What is a mutex?\"\ntokenizer info --tokenizer builtin",
	"tokenizer count":  "tokenizer count \"What is a mutex?\"",
	"tokenizer encode": "tokenizer encode \"What is a mutex?\"",
	"tokenizer decode": "tokenizer decode 4827 382 261",
	"tokenizer info":   "tokenizer info --tokenizer builtin",

	"kube":                   "kube profile --url http://vllm:8000 --model m --streaming --concurrency 64 --image IMAGE --total-workers 4\nkube list\nkube attach my-run",
	"kube profile":           "kube profile --url http://vllm:8000 --model m --streaming --concurrency 64 --image IMAGE --total-workers 4",
	"kube sweep":             "kube sweep --url http://vllm:8000 --model m --concurrency 16,32,64 --image IMAGE --total-workers 4",
	"kube generate":          "kube generate --name my-run --url http://vllm:8000 --model m --concurrency 8 --image IMAGE\nkube generate --name my-run --url http://vllm:8000 --model m --concurrency 8 --image IMAGE --only-secret",
	"kube init":              "kube init --model m --url http://vllm:8000 --output run.yaml\nkube init --list",
	"kube validate":          "kube validate run.yaml",
	"kube dashboard":         "kube dashboard my-run",
	"kube preflight":         "kube preflight --workers 4 --image IMAGE --endpoint-url http://vllm:8000",
	"kube attach":            "kube attach my-run",
	"kube results":           "kube results my-run --output artifacts/my-run",
	"kube results list-runs": "kube results list-runs my-run",
	"kube list":              "kube list --watch",
	"kube logs":              "kube logs my-run --follow",
	"kube cancel":            "kube cancel my-run",
	"kube shutdown":          "kube shutdown my-run",
	"kube delete":            "kube delete my-run",
	"kube cleanup":           "kube cleanup --dry-run",
	"kube show":              "kube show my-run\nkube show --path run.yaml",
	"kube debug":             "kube debug my-run --verbose",

	"completion":       "completion bash\ncompletion zsh",
	"config":           "config init minimal\nconfig validate run.yaml",
	"config schema":    "config schema",
	"config validate":  "config validate run.yaml",
	"config show":      "config show run.yaml",
	"config expand":    "config expand sweep.yaml",
	"config import":    "config import genai_perf_config.yaml",
	"synthesize":       "synthesize agentic-code --num-sessions 200 --output traces\nsynthesize trace trace.jsonl twice.jsonl --speedup-ratio 2",
	"synthesize trace": "synthesize trace trace.jsonl twice.jsonl --speedup-ratio 2 --prefix-len-multiplier 1.5",
	"synthesize-trace": "synthesize-trace trace.jsonl twice.jsonl --speedup-ratio 2 --prefix-len-multiplier 1.5",
	"plugins":          "plugins --all\nplugins endpoint\nplugins endpoint chat\nplugins --validate",
	"plugins new":      "plugins new grader my_grader --language go\nplugins new endpoint my_api",
	"plugins lock":     "plugins lock\nplugins lock ci/plugins.lock",
	"version":          "version",

	"analyze":              "analyze --model m --url localhost:8000 --sweep-type concurrency --sweep-range 1:64",
	"create-template":      "create-template",
	"process-export-files": "process-export-files --input-directory artifacts",

	"analyze swim-lane":     "analyze swim-lane artifacts/my-run",
	"analyze turn-messages": "analyze turn-messages artifacts/my-run",
}

// giveExamples adds the examples to a command and its subcommands.
func giveExamples(cmd *cobra.Command) {
	program := cmd.Root().Name() + " "
	if lines, ok := commandExamples[strings.TrimPrefix(cmd.CommandPath(), program)]; ok && cmd.Example == "" {
		cmd.Example = "  " + program + strings.ReplaceAll(lines, "\n", "\n  "+program)
	}
	for _, child := range cmd.Commands() {
		giveExamples(child)
	}
}
