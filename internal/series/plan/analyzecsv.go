package plan

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
)

// analyzeColumns lists the figures of a cell in GenAI-Perf's report of a sweep (genai-perf, section 12).
var analyzeColumns = []struct {
	title, tag string
	stat       metric.Stat
}{
	{"p99 Time To First Token (ms)", "time_to_first_token", metric.P99}, {"p99 Inter Token Latency (ms)", "inter_token_latency", metric.P99},
	{"p99 Request Latency (ms)", "request_latency", metric.P99}, {"p99 Output Sequence Length (tokens)", "output_sequence_length", metric.P99},
	{"Avg. Output Token Throughput (tokens/sec)", "output_token_throughput", metric.Avg}, {"Request Throughput (requests/sec)", "request_throughput", metric.Avg},
}

// analyzeGPU lists the figures of a GPU there. The energy of a run is one figure: the increase of the counter.
var analyzeGPU = []struct {
	title, tag string
	stat       metric.Stat
}{
	{"p99 GPU Power Usage (W)", "nvidia_power_usage", metric.P99}, {"p99 GPU Energy Consumption (MJ)", "nvidia_energy_consumption", metric.Avg},
	{"p99 GPU Utilization (%)", "nvidia_gpu_utilization", metric.P99}, {"p99 GPU Memory Used (GB)", "nvidia_memory_used", metric.P99},
	{"Avg. GPU Power Limit (W)", "", metric.Avg}, {"Avg. GPU Total Memory (GB)", "", metric.Avg},
}

// analyzeRow is a cell with its name.
type analyzeRow struct {
	name string
	cell *metric.SweepCell
}

// analyzeReport returns GenAI-Perf's report of a sweep: the cells sorted by request throughput, highest first, then a block for every GPU.
func analyzeReport(s *metric.SweepSummary, p *processing) (any, error) {
	var rows []analyzeRow
	for k := range s.Cells {
		if c := &s.Cells[k]; len(c.Runs) > 0 {
			rows = append(rows, analyzeRow{fmt.Sprintf("%s_run_config_%d", strings.ReplaceAll(c.Model, "/", "_"), k), c})
		}
	}
	sorting.Stable(rows, func(a, b analyzeRow) int {
		return -cmp.Compare(a.cell.Mean("request_throughput", metric.Avg), b.cell.Mean("request_throughput", metric.Avg))
	})
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	load := "Concurrency"
	if p.Load == "rate" {
		load = "Request Rate"
	}
	head := []string{"Config Name", load, "ISL", "Num Dataset Entries"}
	for _, c := range analyzeColumns {
		head = append(head, c.title)
	}
	table := [][]string{head}
	for _, r := range rows {
		line := []string{r.name, settingText(r.cell, p.Load, p.Value), decimals(math.Trunc(r.cell.Mean("input_sequence_length", metric.P99)), 0), settingText(r.cell, "entries", float64(p.Entries))}
		for _, c := range analyzeColumns {
			line = append(line, decimals(r.cell.Mean(c.tag, c.stat), 2))
		}
		table = append(table, line)
	}
	err := w.WriteAll(table)
	out.WriteByte('\n')
	head = []string{"Config Name", "GPU"}
	for _, c := range analyzeGPU {
		head = append(head, c.title)
	}
	if e := w.WriteAll(append([][]string{head}, analyzeGPUs(rows)...)); err == nil {
		err = e
	}
	return out.Bytes(), err
}

// analyzeGPUs returns the lines of all GPUs, grouped by GPU.
func analyzeGPUs(rows []analyzeRow) (lines [][]string) {
	type one struct {
		index int
		line  []string
	}
	var all []one
	for _, r := range rows {
		if r.cell.Runs[0].GPU == nil {
			continue
		}
		for _, e := range r.cell.Runs[0].GPU.Endpoints {
			for _, g := range e.GPUs {
				line := []string{r.name, strconv.Itoa(g.Index)}
				for _, c := range analyzeGPU {
					v := math.NaN()
					for k := range g.Metrics {
						if g.Metrics[k].Tag == c.tag {
							v = g.Metrics[k].Values[c.stat]
						}
					}
					line = append(line, decimals(v, 2))
				}
				all = append(all, one{g.Index, line})
			}
		}
	}
	sorting.Stable(all, func(a, b one) int { return a.index - b.index })
	for _, o := range all {
		lines = append(lines, o.line)
	}
	return lines
}

// settingText returns the value of a setting of a cell: the swept one, or else the fixed one.
func settingText(c *metric.SweepCell, key string, fixed float64) string {
	for _, v := range c.Values {
		if leaf(v.Name) == key {
			return fmt.Sprint(v.Value)
		}
	}
	return strconv.FormatFloat(fixed, 'g', -1, 64)
}

// decimals formats a figure with n decimals; empty if it does not exist.
func decimals(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', n, 64)
}
