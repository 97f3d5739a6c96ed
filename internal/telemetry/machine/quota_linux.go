package machine

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// readQuota reads the control groups: version 2 (the kernel's admin-guide/cgroup-v2.rst, cpu.max), else version 1 (scheduler/sched-bwc.rst).
func readQuota(root string) Quota {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return Quota{}
	}
	var best Quota
	for line := range strings.Lines(string(text)) { // "0::/path", or "4:cpu,cpuacct:/path"
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, mount := range mountsOf(parts[1]) {
			for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
				q := groupQuota(filepath.Join(root, mount, group))
				if q.CPUs > 0 && (best.CPUs == 0 || q.CPUs < best.CPUs) {
					best = q
				}
				if group == "/" {
					break
				}
			}
		}
	}
	return best
}

// mountsOf lists the places where a hierarchy with these controllers is usually mounted; none if it does not control CPU time.
func mountsOf(controllers string) []string {
	if controllers == "" {
		return []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}
	}
	for one := range strings.SplitSeq(controllers, ",") {
		if one == "cpu" {
			return []string{"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"}
		}
	}
	return nil
}

// groupQuota reads the quota of one group.
func groupQuota(dir string) (q Quota) {
	var quota, period float64 // us
	if f := strings.Fields(content(dir, "cpu.max")); len(f) == 2 {
		quota, period = number(f[0]), number(f[1]) // "max" is 0
	} else {
		quota, period = number(strings.TrimSpace(content(dir, "cpu.cfs_quota_us"))), number(strings.TrimSpace(content(dir, "cpu.cfs_period_us")))
	}
	if quota <= 0 || period <= 0 {
		return Quota{}
	}
	q.CPUs, q.Period = quota/period, time.Duration(period)*time.Microsecond
	for line := range strings.Lines(content(dir, "cpu.stat")) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		switch v := number(f[1]); f[0] {
		case "nr_periods":
			q.Periods = int64(v)
		case "nr_throttled":
			q.Throttled = int64(v)
		case "throttled_usec":
			q.Stopped = time.Duration(v) * time.Microsecond
		case "throttled_time": // version 1
			q.Stopped = time.Duration(v)
		}
	}
	return q
}

// content returns a file of a directory; "" if it cannot be read.
func content(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}
