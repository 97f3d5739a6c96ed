package artifact

// WatchedFile is a file with readings taken during a run next to its requests.
type WatchedFile struct {
	Kind string // name in the footer; "" = not listed there
	Path func(Layout) string
}

// WatchedFiles lists all such files, in the order of the footer.
var WatchedFiles = []WatchedFile{
	{"", Layout.GPUTelemetry},
	{"Server Metrics CSV Export", func(l Layout) string { return l.ServerMetrics("csv") }},
	{"Server Metrics JSON Export", func(l Layout) string { return l.ServerMetrics("json") }},
	{"", func(l Layout) string { return l.ServerMetrics("jsonl") }},
	{"Server Metrics Parquet Export", func(l Layout) string { return l.ServerMetrics("parquet") }},
	{"", Layout.NetworkLatency},
	{"", Layout.ClientMachine},
	{"", Layout.Timeline},
}
