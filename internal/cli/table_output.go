package cli

import "aiperf/internal/cli/args"

// outputFlags are the flags of profile for what is written, shown and collected.
var outputFlags = concat(
	group("Output", []args.Flag{
		{Names: []string{"--artifact-dir", "--output-artifact-dir"}, Kind: args.Path, Absent: true, Default: "artifacts/<model>-openai-<type>-<load>", Tier: "S", Help: "directory of everything that the run writes"},
		{Names: []string{"--profile-export-prefix", "--profile-export-file"}, Kind: args.Path, Tier: "S", Help: "name of the result files in place of profile_export"},
		{Names: []string{"--export-level", "--profile-export-level"}, Kind: args.Enum, Choices: []string{"summary", "records", "raw"}, Default: "records", Tier: "S", Help: "how much is written: figures, also a line a request, also all bytes"},
		{Names: []string{"--slice-duration"}, Kind: args.Float, Bounds: "> 0", Tier: "S", Help: "figures for every stretch of this many s as well"},
		{Names: []string{"--auto-plot"}, Not: []string{"--no-auto-plot"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "draw plots after the run"},
		{Names: []string{"--plot-required"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "fail when plots cannot be drawn"},
		{Names: []string{"--export-outputs-json"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "write all answers into outputs.json"},
		{Names: []string{"--otel-url"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "stream metrics to this OpenTelemetry collector"},
		{Names: []string{"--stream"}, Kind: args.Enum, Choices: []string{"metrics", "timing", "default"}, List: true, NotBuilt: true, Tier: "U", Help: "what to stream there"},
		{Names: []string{"--otel-resource-attributes"}, Kind: args.Text, List: true, NotBuilt: true, Tier: "U", Help: "attributes of the stream: key=value"},
		{Names: []string{"--gen-ai-provider"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "provider name in the stream"},
		{Names: []string{"--mlflow-tracking-uri"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "upload results to this MLflow server"},
		{Names: []string{"--mlflow-experiment"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "MLflow experiment"},
		{Names: []string{"--mlflow-run-name"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "MLflow run name"},
		{Names: []string{"--mlflow-tag"}, Kind: args.Text, List: true, Whole: true, NotBuilt: true, Tier: "U", Help: "MLflow tags: key:value"},
		{Names: []string{"--mlflow-parent-run-id"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "MLflow parent run"},
		{Names: []string{"--mlflow-artifact-glob"}, Kind: args.Text, List: true, NotBuilt: true, Tier: "U", Help: "files to upload to MLflow"},
		{Names: []string{"--wandb-project"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "upload results to this Weights & Biases project"},
		{Names: []string{"--wandb-entity"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "Weights & Biases entity"},
		{Names: []string{"--wandb-run-name"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "Weights & Biases run name"},
		{Names: []string{"--wandb-tag"}, Kind: args.Text, List: true, NotBuilt: true, Tier: "U", Help: "Weights & Biases tags"},
	}),
	group("HTTP Trace", []args.Flag{
		{Names: []string{"--export-http-trace"}, Kind: args.Bool, Tier: "S", Help: "write the instants of every request into the record files"},
		{Names: []string{"--show-trace-timing"}, Kind: args.Bool, Tier: "S", Help: "print the table of HTTP phases"},
	}),
	group("Server Metrics", []args.Flag{
		{Names: []string{"--server-metrics"}, Kind: args.Text, List: true, Optional: true, NotBuilt: true, Tier: "S", Help: "collect metrics of these Prometheus endpoints"},
		{Names: []string{"--no-server-metrics"}, Kind: args.Bool, Tier: "S", Help: "do not collect server metrics"},
		{Names: []string{"--server-metrics-formats"}, Kind: args.Enum, Choices: []string{"json", "csv", "jsonl", "parquet"}, Default: "json csv", List: true, NotBuilt: true, Tier: "S", Help: "files to write for server metrics"},
	}),
	group("GPU Telemetry", []args.Flag{
		{Names: []string{"--gpu-telemetry"}, Kind: args.Text, List: true, Optional: true, NotBuilt: true, Tier: "S", Help: "collect GPU figures: exporter URLs, pynvml, amdsmi, dashboard, a CSV of metrics"},
		{Names: []string{"--no-gpu-telemetry"}, Kind: args.Bool, Tier: "S", Help: "do not collect GPU figures"},
	}),
	group("Network Latency", []args.Flag{
		{Names: []string{"--network-latency-automatic"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "measure the network's share of the latency"},
		{Names: []string{"--network-latency-mean"}, Kind: args.Float, Bounds: ">= 0", NotBuilt: true, Tier: "U", Help: "subtract this network latency, in ms"},
		{Names: []string{"--network-latency-ping-interval"}, Kind: args.Float, Bounds: "> 0", NotBuilt: true, Tier: "U", Help: "pause between two measurements, in s"},
	}),
	group("UI", []args.Flag{
		{Names: []string{"--ui", "--ui-type"}, Kind: args.Enum, Choices: []string{"dashboard", "simple", "none"}, Default: "dashboard; none without a terminal", Tier: "S", Help: "live view of the run"},
		{Names: []string{"--tables"}, Kind: args.Enum, Choices: []string{"main", "all"}, Default: "main", Tier: "N", Help: "metric tables that a terminal gets; files and pipes get all"},
	}),
	group("Service", []args.Flag{
		{Names: []string{"--log-level"}, Kind: args.Enum, Choices: []string{"TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "SUCCESS", "ERROR", "CRITICAL"}, Default: "INFO", Tier: "S", Help: "least severe log lines to keep"},
		{Names: []string{"--verbose", "-v"}, Kind: args.Bool, Tier: "S", Help: "debug log lines; twice: trace"},
		{Names: []string{"--extra-verbose", "-vv"}, Kind: args.Bool, Tier: "S", Help: "trace log lines"},
		{Names: []string{"--record-processor-service-count", "--record-processors"}, Kind: args.Int, Bounds: ">= 1", NoEffect: "records are worked on by as many goroutines as there are cores", Tier: "S", Help: "accepted for old command lines"},
		{Names: []string{"--api-port"}, Kind: args.Int, Bounds: ">= 1, <= 65535", NotBuilt: true, Tier: "U", Help: "serve the live HTTP API on this port"},
		{Names: []string{"--api-host"}, Kind: args.Text, NotBuilt: true, Tier: "U", Help: "address of the live HTTP API"},
		{Names: []string{"--stats-interval"}, Kind: args.Float, Bounds: ">= 0, <= 1000", Default: "5 with the dashboard, else 30", Tier: "U", Help: "pause between two progress lines, in s"},
	}),
	group("Workers", []args.Flag{
		{Names: []string{"--workers-max", "--max-workers"}, Kind: args.Int, Bounds: ">= 1", NoEffect: "one process carries every connection", Tier: "S", Help: "accepted for old command lines"},
	}),
	group("ZMQ Communication", []args.Flag{
		{Names: []string{"--zmq-host"}, Kind: args.Text, Absent: true, NoEffect: "there is no message bus inside one process", Tier: "S", Help: "accepted for old command lines"},
		{Names: []string{"--zmq-ipc-path"}, Kind: args.Path, Absent: true, NoEffect: "there is no message bus inside one process", Tier: "S", Help: "accepted for old command lines"},
		{Names: []string{"--zmq-dual-bind"}, Kind: args.Bool, NoEffect: "there is no message bus inside one process", Tier: "U", Help: "accepted for old command lines"},
	}),
	group("Accuracy", []args.Flag{
		{Names: []string{"--accuracy-benchmark"}, Kind: args.Enum, Choices: []string{"mmlu", "mmlu_pro", "aime", "aime24", "aime25", "hellaswag", "bigbench", "math_500", "gsm8k", "gpqa_diamond", "lcb_codegeneration"}, NotBuilt: true, Tier: "S", Help: "grade answers to the problems of this benchmark"},
		{Names: []string{"--accuracy-tasks"}, Kind: args.Text, List: true, NotBuilt: true, Tier: "U", Help: "tasks of the benchmark"},
		{Names: []string{"--accuracy-n-shots"}, Kind: args.Int, Bounds: ">= 0, <= 32", NotBuilt: true, Tier: "S", Help: "worked examples before each problem"},
		{Names: []string{"--accuracy-enable-cot"}, Not: []string{"--accuracy-no-enable-cot"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "ask for reasoning before the answer"},
		{Names: []string{"--accuracy-grader"}, Kind: args.Enum, Choices: []string{"exact_match", "math", "multiple_choice", "code_execution", "lighteval_expr", "lighteval_latex", "lighteval_gpqa", "lighteval_gsm8k", "mmlu_pro"}, NotBuilt: true, Tier: "S", Help: "how answers are graded"},
		{Names: []string{"--accuracy-system-prompt"}, Kind: args.Text, Empty: true, NotBuilt: true, Tier: "U", Help: "system prompt of the problems"},
		{Names: []string{"--accuracy-verbose"}, Kind: args.Bool, NotBuilt: true, Tier: "U", Help: "print every graded answer"},
	}),
)
