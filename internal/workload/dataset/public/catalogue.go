package public

import (
	"fmt"
	"strings"

	"aiperf/internal/base/suggest"
)

// Sets are all sets in display order.
var Sets = concat(questions, pictures, plain, drafts, speech, agents, traces(), speedBench())

// questions are sets whose prompts are one column.
var questions = []Set{
	prompts("aimo", "AI-MO/NuminaMath-TIR", "", "train", "problem"),
	prompts("aimo_aime", "AI-MO/aimo-validation-aime", "", "train", "problem"),
	prompts("aimo_numina_cot", "AI-MO/NuminaMath-CoT", "", "train", "problem"),
	prompts("aimo_numina_1_5", "AI-MO/NuminaMath-1.5", "", "train", "problem"),
	prompts("instruct_coder", "likaixin/InstructCoder", "", "train", "instruction"),
	edits("blazedit_5k", "vdaita/edit_5k_char"),
	edits("blazedit_10k", "vdaita/edit_10k_char"),
}

// pictures are sets with images or videos.
var pictures = []Set{
	{Name: "mmstar", Repo: "Lin-Chen/MMStar", Split: "val", Modality: "text, image", columns: []string{"question", "image"}, open: promptOf("question", "image")},
	{Name: "mmvu", Repo: "yale-nlp/MMVU", Split: "validation", Modality: "text, video", columns: []string{"question", "choices", "video"}, open: videoQuestions},
	{Name: "vision_arena", Repo: "lmarena-ai/VisionArena-Chat", Split: "train", Modality: "text, image", Gated: true, Streamed: true,
		columns: []string{"conversation", "images"}, open: chats("conversation", "images", (*builder).firstReadable)},
	{Name: "llava_onevision", Repo: "lmms-lab/LLaVA-OneVision-Data", Config: "sharegpt4o", Split: "train", Modality: "text, image", Streamed: true,
		columns: []string{"conversations", "image"}, open: chats("conversations", "image", (*builder).picture)},
}

// plain are sets in a single file.
var plain = []Set{
	{Name: "sharegpt", Repo: "anon8231489123/ShareGPT_Vicuna_unfiltered", Modality: "text", read: readShareGPT},
	{Name: "spec_bench", Modality: "text", read: readSpecBench},
}

// drafts are sets for comparing speculative decoding.
var drafts = []Set{
	prompts("spec_al_gsm8k", "openai/gsm8k", "main", "test", "question"),
	prompts("spec_al_math500", "HuggingFaceH4/MATH-500", "", "test", "problem"),
	prompts("spec_al_humaneval", "openai/openai_humaneval", "", "test", "prompt"),
	prompts("spec_al_mbpp", "google-research-datasets/mbpp", "full", "test", "text"),
	{Name: "spec_al_mtbench", Repo: "HuggingFaceH4/mt_bench_prompts", Split: "train", Modality: "text", columns: []string{"prompt"}, open: turnsOf("prompt")},
}

// speech are sets of recorded speech.
var speech = []Set{
	clips("librispeech", "openslr/librispeech_asr", "clean", false),
	clips("voxpopuli", "facebook/voxpopuli", "en", false),
	clips("gigaspeech", "speechcolab/gigaspeech", "xs", true),
	clips("ami", "edinburghcstr/ami", "ihm", false),
	clips("spgispeech", "kensho/spgispeech", "test", true),
}

func prompts(name, repo, config, split, column string) Set {
	return Set{Name: name, Repo: repo, Config: config, Split: split, Modality: "text", columns: []string{column}, open: promptOf(column, "")}
}

func edits(name, repo string) Set {
	return Set{Name: name, Repo: repo, Split: "train", Modality: "text", columns: []string{"code", "change_request"}, open: changes}
}

func clips(name, repo, config string, gated bool) Set {
	return Set{Name: name, Repo: repo, Config: config, Split: "test", Modality: "audio", Gated: gated, Streamed: true, columns: []string{"audio"}, open: sounds}
}

// speedBench returns the parts of SPEED-Bench: every configuration, whole and by category.
func speedBench() (sets []Set) {
	add := func(name, config, category string, rows int) {
		sets = append(sets, Set{Name: "speed_bench_" + name, Repo: "nvidia/SPEED-Bench", Config: config, Split: "test", Modality: "text",
			Rows: rows, Licence: "nvidia-evaluation-dataset-license",
			columns: []string{"question_id", "category", "turns"}, open: questionsOf(category)})
	}
	add("qualitative", "qualitative", "", qualitativeRows)
	for _, c := range []string{"coding", "humanities", "math", "multilingual", "qa", "rag", "reasoning", "roleplay", "stem", "summarization", "writing"} {
		add(c, "qualitative", c, categoryRows)
	}
	for _, size := range []string{"1k", "2k", "8k", "16k", "32k"} {
		config := "throughput_" + size
		add(config, config, "", sizeRows)
		for _, c := range []string{"low_entropy", "mixed", "high_entropy"} {
			add(config+"_"+c, config, c, tierRows)
		}
	}
	return sets
}

func concat(lists ...[]Set) (all []Set) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// Find returns the set with this name; nil = unknown.
func Find(name string) *Set {
	for i := range Sets {
		if strings.EqualFold(Sets[i].Name, name) {
			return &Sets[i]
		}
	}
	return nil
}

// Names lists the names of all sets.
func Names() []string {
	names := make([]string, len(Sets))
	for i := range Sets {
		names[i] = Sets[i].Name
	}
	return names
}

// Check returns an error if the set does not exist.
func Check(name string) error {
	if Find(name) != nil {
		return nil
	}
	if near := suggest.Name(name, Names()); near != "" {
		return fmt.Errorf("unknown public dataset %q: did you mean %s?", name, near)
	}
	return fmt.Errorf("unknown public dataset %q", name)
}
