package config

// Default returns a run with all defaults that do not depend on other values: one burst phase without a stop condition, synthetic prompts, and no
// model.
func Default() *Run {
	return &Run{
		SchemaVersion: SchemaVersion,
		Benchmark:     defaultBenchmark(),
		MultiRun:      MultiRun{NumRuns: 1, ConfidenceLevel: 0.95, SetConsistentSeed: true, DisableWarmupAfterFirst: true},
	}
}

func defaultBenchmark() Benchmark {
	return Benchmark{
		Models: Models{Strategy: ModelRoundRobin},
		Endpoint: Endpoint{
			URLs: []string{"http://localhost:8000"}, URLStrategy: "round_robin", HTTPVersion: "1.1", Type: "chat",
			Timeout: 21600, ConnectionReuse: ReusePooled, WaitForModelEvery: 5, WaitForModelMode: "inference",
		},
		Datasets:       []Dataset{DefaultDataset()},
		Phases:         []Phase{{Name: "profiling", Kind: KindProfiling, Type: PhaseConcurrency}},
		Artifacts:      Artifacts{Summary: Formats{"json"}, Records: Formats{"jsonl"}},
		Tokenizer:      Tokenizer{Revision: "main"},
		GPUTelemetry:   GPUTelemetry{Enabled: true, URLs: []string{}, Collector: "dcgm", Mode: "summary"},
		ServerMetrics:  ServerMetrics{Enabled: true, URLs: []string{}, Formats: []string{"json", "csv"}, Discovery: Discovery{Mode: "auto", Timeout: 30}},
		NetworkLatency: NetworkLatency{PingInterval: 1},
		OTel:           OTel{StreamMetrics: true, StreamTiming: true},
		MLflow:         MLflow{Experiment: "aiperf"},
		Runtime:        Runtime{UI: UINone},
		Logging:        Logging{Level: "INFO"},
		Environment:    DefaultEnvironment(),
	}
}

// DefaultDataset returns a data set of 100 synthetic single-turn prompts of 550 tokens.
func DefaultDataset() Dataset {
	return Dataset{
		Name: "main", Type: DatasetSynthetic, Sampling: SampleSequential, Entries: 100,
		Prompts: DefaultPrompts(), TurnDelayRatio: 1,
	}
}

// DefaultPrompts returns prompts of 550 tokens without an output length.
func DefaultPrompts() *Prompts {
	return &Prompts{ISL: Normal(550, 0), BatchSize: 1, CacheBust: CacheBust{Target: "none"}, RandomCorpusStyle: "vllm"}
}

// DefaultEnvironment returns the defaults of the AIPERF_* variables (spec: cli, section 11).
func DefaultEnvironment() Environment {
	return Environment{
		HTTP: HTTPTuning{
			ConnectionLimit: 2500, KeepaliveTimeout: 300, SSLVerify: true, SessionAffinity: true, IPVersion: "4", TTLDNSCache: 300,
			SendBuffer: 10485760, ReceiveBuffer: 10485760, MaxResponseBytes: 64 << 20, VideoPollInterval: 0.1, CancelSendTimeout: 300,
		},
		Timing:  TimingTuning{CancelDrainTimeout: 10, RateRampUpdateInterval: 0.1, HighResTimer: true, MaxCatchup: 0.01},
		Metrics: MetricsTuning{UsagePctDiffThreshold: 10, OSLMismatchPct: 5, OSLMismatchMaxTokens: 50, ListBackend: "ragged", TDigestCompression: 500},
		API:     APITuning{ShutdownTimeout: 5},
		UI:      UITuning{ConsoleExportWidth: 140, MinUpdatePercent: 1, LiveFile: true},
		GPU: CollectTuning{
			CollectionInterval: 0.333, ReachabilityTimeout: 10, FinalScrapeGraceNs: 666_000_000,
			DefaultDCGMEndpoints: []string{"http://localhost:9400/metrics", "http://localhost:9401/metrics"},
		},
		Server:  CollectTuning{CollectionInterval: 0.333, FlushPeriod: 2, ReachabilityTimeout: 10, ScrapeTimeout: 30},
		OTel:    OTelTuning{FlushInterval: 2, MaxBatch: 500, MaxBuffered: 10_000, RequestTimeout: 10},
		MLflow:  UploadTuning{ExportTimeout: 30},
		WandB:   UploadTuning{ExportTimeout: 30},
		Network: NetworkTuning{MinSamples: 5, ConnectTimeout: 5},
		Dataset: DatasetTuning{
			ConfigurationTimeout: 300, MediaDownloadTimeout: 60, MediaDownloadMax: 10,
			Weka: WekaTuning{
				SplitAgents: true, SeamMaxGap: 3600, SeamMinOverlap: 0.5, AuxMaxRequests: 1, AuxRatio: 0.1, AuxFloor: 16384, AuxCrossModel: true,
				ReductionMaxOut: 4000, ReductionRatio: 20, GroupMin: 3, Threshold: 8,
			},
			TraceLab:      TraceLabTuning{SubagentJoin: true, CodexSubagentJoin: true, MinSpawn: 10_000},
			BasetenColumn: "provided_session_id",
		},
		Accuracy: AccuracyTuning{LCBReleaseTag: "v4_v5", BFCLVersionPin: "2026.3.23"},
	}
}
