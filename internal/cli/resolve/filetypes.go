package resolve

import "aiperf/internal/workload/dataset/custom"

// speedBench lists the parts of SPEED-Bench, each of which is a file type.
var speedBench = []string{
	"speed_bench_qualitative", "speed_bench_coding", "speed_bench_humanities", "speed_bench_math",
	"speed_bench_multilingual", "speed_bench_qa", "speed_bench_rag", "speed_bench_reasoning", "speed_bench_roleplay",
	"speed_bench_stem", "speed_bench_summarization", "speed_bench_writing", "speed_bench_throughput_1k",
	"speed_bench_throughput_2k", "speed_bench_throughput_8k", "speed_bench_throughput_16k",
	"speed_bench_throughput_32k", "speed_bench_throughput_1k_low_entropy", "speed_bench_throughput_1k_mixed",
	"speed_bench_throughput_1k_high_entropy", "speed_bench_throughput_2k_low_entropy",
	"speed_bench_throughput_2k_mixed", "speed_bench_throughput_2k_high_entropy",
	"speed_bench_throughput_8k_low_entropy", "speed_bench_throughput_8k_mixed",
	"speed_bench_throughput_8k_high_entropy", "speed_bench_throughput_16k_low_entropy",
	"speed_bench_throughput_16k_mixed", "speed_bench_throughput_16k_high_entropy",
	"speed_bench_throughput_32k_low_entropy", "speed_bench_throughput_32k_mixed",
	"speed_bench_throughput_32k_high_entropy",
}

// fileTypes returns the names of --custom-dataset-type.
func fileTypes() []string {
	var names []string
	for _, f := range custom.Formats {
		if f.Name == "speed_bench" {
			names = append(names, speedBench...)
			continue
		}
		names = append(names, f.Name)
	}
	return names
}

// shownFileTypes returns the file types that the help lists.
func shownFileTypes() []string {
	var names []string
	for _, f := range custom.Formats {
		if f.Name == "speed_bench" {
			f.Name += "_…"
		}
		names = append(names, f.Name)
	}
	return names
}
