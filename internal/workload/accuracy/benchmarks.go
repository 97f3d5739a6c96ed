package accuracy

// longAnswer is the limit, in tokens, of benchmarks whose answers include the reasoning.
const longAnswer = 32768

// boxedAnswer asks for an answer in the format that the mathematics graders find.
const boxedAnswer = `Please reason step by step, and put your final answer within \boxed{}.`

// Benchmarks lists all benchmarks, one row each (accuracy.md, section 2, of the contract).
var Benchmarks = []Benchmark{
	{Name: "mmlu", Repo: "lighteval/mmlu", Grader: "multiple_choice", Shots: 5, Limit: 5, Stop: []string{"\n"}, chain: 4000, Tasks: mmluSubjects, resolve: choose(mmluSubjects), load: mmlu},
	{Name: "mmlu_pro", Repo: "TIGER-Lab/MMLU-Pro", Grader: "mmlu_pro", Shots: 5, CoT: true, Limit: 4000, Tasks: mmluProCategories, resolve: choose(mmluProCategories), load: mmluPro},
	{Name: "aime", Repo: "Maxwell-Jia/AIME_2024", Grader: "math", Shots: 8, MaxShots: 8, CoT: true, Limit: longAnswer, System: boxedAnswer, load: aime},
	{Name: "aime24", Repo: "HuggingFaceH4/aime_2024", Grader: "lighteval_expr", Limit: longAnswer, load: aimeYear("aime24")},
	{Name: "aime25", Repo: "yentinglin/aime_2025", Grader: "lighteval_expr", Limit: longAnswer, load: aimeYear("aime25")},
	{Name: "hellaswag", Repo: "Rowan/hellaswag", Grader: "exact_match", Shots: 10, MaxShots: 15, Limit: 5, Tasks: activities.labels, resolve: chooseAny(activities.labels, activities.find), load: hellaswag},
	{Name: "bigbench", Repo: "lukaemon/bbh", Grader: "exact_match", Shots: 3, MaxShots: 3, CoT: true, Limit: 1024, Tasks: bbhTasks, resolve: chooseAny(bbhTasks, bbhTask), load: bigbench},
	{Name: "math_500", Repo: "HuggingFaceH4/MATH-500", Grader: "lighteval_latex", Limit: longAnswer, load: math500},
	{Name: "gsm8k", Repo: "openai/gsm8k", Grader: "lighteval_gsm8k", Limit: 256, load: gsm8k},
	{Name: "gpqa_diamond", Repo: "Idavidrein/gpqa", Gated: true, Grader: "lighteval_gpqa", Limit: longAnswer, load: gpqaDiamond},
	{Name: "lcb_codegeneration", Repo: "livecodebench/code_generation_lite", Grader: "code_execution", Limit: longAnswer, Refuses: true, load: liveCodeBench},
	{Name: "bfcl_ast", Repo: "bfcl-eval", Grader: "tool_call_ast", Limit: 4096, Own: true, Tasks: bfclCategories, resolve: bfclTasks, load: bfcl},
}
