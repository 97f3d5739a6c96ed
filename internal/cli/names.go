package cli

import "aiperf/internal/dataset/custom"

// publicDatasets are the names of --public-dataset.
var publicDatasets = []string{
	"sharegpt", "aimo", "aimo_aime", "aimo_numina_cot", "aimo_numina_1_5", "mmstar", "mmvu", "vision_arena",
	"llava_onevision", "spec_bench", "spec_al_gsm8k", "spec_al_math500", "spec_al_humaneval", "spec_al_mbpp",
	"spec_al_mtbench", "instruct_coder", "blazedit_5k", "blazedit_10k", "librispeech", "voxpopuli", "gigaspeech", "ami",
	"spgispeech", "exgentic", "exgentic_v2", "weka_hf", "semianalysis_cc_traces_weka",
	"semianalysis_cc_traces_weka_no_subagents", "semianalysis_cc_traces_weka_with_subagents",
	"semianalysis_cc_traces_weka_with_subagents_256k", "semianalysis_cc_traces_weka_with_subagents_060226",
	"semianalysis_cc_traces_weka_with_subagents_060226_256k", "semianalysis_cc_traces_weka_with_subagents_060526",
	"semianalysis_cc_traces_weka_with_subagents_060526_256k", "semianalysis_cc_traces_weka_with_subagents_060826",
	"semianalysis_cc_traces_weka_with_subagents_060826_256k", "semianalysis_cc_traces_weka_061326",
	"semianalysis_cc_traces_weka_061326_256k", "semianalysis_cc_traces_weka_061526",
	"semianalysis_cc_traces_weka_061526_256k", "semianalysis_cc_traces_weka_062126",
	"semianalysis_cc_traces_weka_062126_256k",
}

// speedBench are the parts of SPEED-Bench, each a file type of its own.
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

// fileTypes are the names of --custom-dataset-type.
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

// builtFileTypes are those that can be read.
func builtFileTypes() []string {
	var names []string
	for _, f := range custom.Formats {
		switch {
		case !f.Built():
		case f.Name == "speed_bench":
			names = append(names, "speed_bench_…")
		default:
			names = append(names, f.Name)
		}
	}
	return names
}
