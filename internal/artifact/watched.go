package artifact

// WatchedFile is a file of what was watched beside the requests of a run.
type WatchedFile struct {
	Kind string // as the footer names it; "" = it does not
	Path func(Layout) string
}

// WatchedFiles are all of them, in the order of the footer.
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
