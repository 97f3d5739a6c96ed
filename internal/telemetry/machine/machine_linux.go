package machine

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// read reads /proc and /sys; missing values stay unset.
func read(root string) (s state, ok bool) {
	text, err := os.ReadFile(filepath.Join(root, "proc/stat"))
	if err != nil {
		return s, false
	}
	s.parseStat(text)
	s.waited = math.NaN()
	if text, err := os.ReadFile(filepath.Join(root, "proc/pressure/cpu")); err == nil {
		s.waited = parsePressure(text)
	}
	if text, err := os.ReadFile(filepath.Join(root, "proc/meminfo")); err == nil {
		s.memoryTotal, s.memoryFree = kilobytes(text, "MemTotal:"), kilobytes(text, "MemAvailable:")
	}
	for _, name := range []string{"proc/net/sockstat", "proc/net/sockstat6"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err == nil {
			s.parseSockets(text)
		}
	}
	if text, err := os.ReadFile(filepath.Join(root, "proc/sys/net/ipv4/ip_local_port_range")); err == nil {
		if f := strings.Fields(string(text)); len(f) == 2 {
			s.ports = number(f[1]) - number(f[0]) + 1
		}
	}
	paths, _ := filepath.Glob(filepath.Join(root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq")) // not every machine has them
	sum := 0.0
	for _, p := range paths {
		if text, err := os.ReadFile(p); err == nil {
			sum += number(strings.TrimSpace(string(text))) / 1e3
		}
	}
	if len(paths) > 0 {
		s.megahertz = sum / float64(len(paths))
	}
	return s, true
}

// parseStat parses /proc/stat (proc_stat(5)): jiffies of every CPU by state, and context switches since boot.
func (s *state) parseStat(text []byte) {
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		switch {
		case len(f) > 8 && strings.HasPrefix(f[0], "cpu"):
			var c cpu
			for i, word := range f[1:9] { // user nice system idle iowait irq softirq steal
				v := number(word)
				c.total += v
				switch i {
				case 3, 4:
					c.idle += v
				case 7:
					c.steal = v
				}
			}
			if f[0] == "cpu" {
				s.all = c
			} else {
				s.cores = append(s.cores, c)
			}
		case len(f) == 2 && f[0] == "ctxt":
			s.switches = number(f[1])
		}
	}
}

// parsePressure parses /proc/pressure/cpu (the kernel's accounting/psi.rst): its line "some ... total=N" counts the us in which at least one task
// waited for a CPU. The result is in s; NaN if the line is missing.
func parsePressure(text []byte) float64 {
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) > 1 && f[0] == "some" {
			if total, ok := strings.CutPrefix(f[len(f)-1], "total="); ok {
				return number(total) / 1e6
			}
		}
	}
	return math.NaN()
}

// parseSockets parses /proc/net/sockstat: lines such as "TCP: inuse 5 orphan 0 tw 2 alloc 9 mem 1".
func (s *state) parseSockets(text []byte) {
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) == 0 || f[0] != "TCP:" && f[0] != "TCP6:" {
			continue
		}
		for i := 1; i+1 < len(f); i += 2 {
			switch f[i] {
			case "inuse":
				s.sockets += number(f[i+1])
			case "tw":
				s.timeWait += number(f[i+1])
			}
		}
	}
}

// kilobytes returns a line of /proc/meminfo in bytes; 0 if it is missing.
func kilobytes(text []byte, key string) float64 {
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) >= 2 && f[0] == key {
			return number(f[1]) * 1024
		}
	}
	return 0
}

func number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return v
}
