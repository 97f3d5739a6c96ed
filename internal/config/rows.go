package config

import (
	"slices"
	"sync"

	"aiperf/internal/base/setting"
)

// group sets the help heading of rows.
func group(name string, rows []setting.Row) []setting.Row {
	for i := range rows {
		rows[i].Group = name
	}
	return rows
}

// SharedRows returns the rows of Rows, which nobody may change: each command line reads them several times.
var SharedRows = sync.OnceValue(Rows)

// Rows returns the settings of a run in the order of the help: every flag of profile and every AIPERF_* variable. Each row is defined next to the
// structure with its value. The caller owns the returned copy.
func Rows() []setting.Row {
	return slices.Concat(
		endpointRows,
		tokenizerRows,
		inputRows,
		fixedScheduleRows,
		goodputRows,
		conversationInputRows,
		promptRows,
		cacheBustRows,
		prefixPromptRows,
		islRows,
		oslRows,
		rankingsRows,
		synthesisRows,
		audioInputRows,
		imageInputRows,
		videoInputRows,
		loadGeneratorRows,
		userCentricRateRows,
		warmupRows,
		requestCancellationRows,
		scenarioRows,
		outputRows,
		httpTraceRows,
		serverMetricsRows,
		gpuTelemetryRows,
		networkLatencyRows,
		uiRows,
		serviceRows,
		workersRows,
		machinesRows,
		zmqCommunicationRows,
		accuracyRows,
		multiRunRows,
		genaiPerfCompatibilityRows,
		checkRows, environmentRows,
	)
}

// ResumeFlag is the flag that continues a series. It has no key, because it is not part of a file.
const ResumeFlag = "--resume"

var checkRows = group("Dry Run and Gates", []setting.Row{
	{Flags: []string{"--dry-run"}, Common: true, Kind: setting.Bool, Help: "check everything, print the resolved configuration as YAML, send nothing"},
	{Flags: []string{"--fail-if"}, Key: "fail_if", Manual: true, Kind: setting.Text, List: true, Whole: true, Help: "status 3 if this holds or is undecided: time_to_first_token:p99>200ms, error_rate>1 (percent)"},
	{Flags: []string{"--objective"}, Key: "fail_if", Manual: true, Kind: setting.Text, List: true, Whole: true, Help: "status 3 unless this holds: ttft:p99<200ms, p95(e2e)<2s, tps>100, error_rate<1%"},
	{Flags: []string{"--fail-on-verdict"}, Key: "fail_on_verdict", Kind: setting.Bool, Help: "exit status 3 unless the verdict is valid or server limited"},
	{Flags: []string{"--allow-invalid"}, Key: "allow_invalid", Kind: setting.Bool, Help: "judge --fail-if by the plain values, without verdict and ranges"},
	{Flags: []string{"--junit"}, Key: "junit", Kind: setting.Path, Help: "write the --fail-if results as JUnit XML"},
})
