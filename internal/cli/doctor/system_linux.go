package doctor

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// firstLine returns the content of a small file without its line end; "" if it cannot be read.
func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func kernelRelease() string { return firstLine("/proc/sys/kernel/osrelease") }

func clockSource() string {
	return firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

func governor() string { return firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") }

// clockSynchronised asks the kernel whether its wall clock follows a reference (adjtimex(2)); nil = it does not say.
func clockSynchronised() *bool {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return nil
	}
	follows := state != unix.TIME_ERROR
	return &follows
}

// writable reports whether this user may create files in a directory.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }
