package machine

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestQuota: the smallest quota of the group and of those around it counts, in both versions of control groups.
func TestQuota(t *testing.T) {
	stat := "usage_usec 1\nnr_periods 50\nnr_throttled 5\nthrottled_usec 250000\n"
	tests := map[string]struct {
		files map[string]string
		want  Quota
	}{
		"no control groups": {nil, Quota{}},
		"no quota":          {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, Quota{}},
		"own group": {
			map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n", "sys/fs/cgroup/a/b/cpu.stat": stat},
			Quota{CPUs: 1.5, Period: 100 * time.Millisecond, Periods: 50, Throttled: 5, Stopped: 250 * time.Millisecond},
		},
		"a smaller quota around it": {
			map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"},
			Quota{CPUs: 0.5, Period: 100 * time.Millisecond},
		},
		"version 1 in a container, which sees the group as root": {
			map[string]string{
				"proc/self/cgroup":                            "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":  "200000\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.stat":          "nr_periods 9\nnr_throttled 3\nthrottled_time 7000000\n",
			},
			Quota{CPUs: 2, Period: 100 * time.Millisecond, Periods: 9, Throttled: 3, Stopped: 7 * time.Millisecond},
		},
		"version 1 without a quota": {
			map[string]string{"proc/self/cgroup": "4:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, Quota{},
		},
		"garbage": {map[string]string{"proc/self/cgroup": "x\n::\n0::../../..\n", "sys/fs/cgroup/cpu.max": "1 0\n"}, Quota{}},
	}
	for name, tt := range tests {
		root := t.TempDir()
		for file, text := range tt.files {
			full := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := readQuota(root); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
