package redact

// someKinds are flags of a command.
func someKinds(flag string) (ArgKind, bool) {
	kind, ok := map[string]ArgKind{
		"--api-key": Secret, "-H": HeaderLine, "--header": HeaderLine, "--H": HeaderLine, "--url": Address, "-u": Address,
		"--mlflow-tracking-uri": Address, "--endpoint": Address, "--server-metrics": Address, "--extra-inputs": Member,
		"--concurrency": Open, "-m": Open, "-b": Open,
	}[flag]
	return kind, ok
}
