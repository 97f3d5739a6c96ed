package accuracy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/lazyregexp"
)

// The Berkeley Function-Calling Leaderboard in its prompt mode: the system message describes the functions, and the model writes calls as text. Its
// problems come with the Python package bfcl-eval.

// bfclCategories are the default categories; bfclLive can be selected as well.
var (
	bfclCategories = []string{"simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple", "irrelevance"}
	bfclLive       = []string{"live_simple", "live_multiple", "live_parallel", "live_parallel_multiple", "live_irrelevance", "live_relevance"}
)

// bfclRefused are the prefixes of categories that need more than one text answer.
var bfclRefused = []string{"exec_", "multi_turn_", "web_search_", "memory_"}

// AnyVersion is the pin that accepts any release of bfcl-eval.
const AnyVersion = "any"

func bfclTasks(names []string) ([]string, error) {
	for _, n := range names {
		for _, begin := range bfclRefused {
			if strings.HasPrefix(n, begin) || n == strings.TrimSuffix(begin, "_") {
				return nil, fmt.Errorf("%q is not supported: the categories %s* need programs or several answers", n, begin)
			}
		}
		if n != "all" && !slices.Contains(bfclCategories, n) && !slices.Contains(bfclLive, n) {
			return nil, unknownTask(n, append(slices.Clone(bfclCategories), bfclLive...))
		}
	}
	if len(names) == 0 || slices.Contains(names, "all") {
		return bfclCategories, nil
	}
	return names, nil
}

// bfcl loads the problems of the selected categories.
func bfcl(s *source) (problems []Problem, err error) {
	data, err := s.bfclData()
	if err != nil {
		return nil, err
	}
	for _, category := range s.tasks {
		entries, err := bfclFile(filepath.Join(data, "BFCL_v4_"+category+".json"))
		if err != nil {
			return nil, err
		}
		answers := map[string]document{}
		if !strings.HasSuffix(category, "relevance") {
			rows, err := bfclFile(filepath.Join(data, "possible_answer", "BFCL_v4_"+category+".json"))
			if err != nil {
				return nil, err
			}
			for _, r := range rows {
				id, _ := r.at["id"].(string)
				answers[id] = r.at["ground_truth"]
			}
		}
		for i, e := range entries {
			p, err := bfclProblem(category, e, answers)
			if err != nil {
				return nil, fmt.Errorf("%s row %d: %w", category, i, err)
			}
			problems = append(problems, *p)
		}
	}
	return problems, nil
}

// bfclRelease finds the release in the name of the directory that installers write next to the package.
var bfclRelease = lazyregexp.New(`^bfcl_eval-([\w.]+)\.dist-info$`)

// bfclData returns the folder with the problems of the pinned release.
func (s *source) bfclData() (string, error) {
	if s.Dir == "" {
		return "", fmt.Errorf("%s is missing: bfcl_ast needs the folder bfcl_eval of the Python package bfcl-eval %s. Run: pip download bfcl-eval, and unzip the downloaded file", s.Spell.As("accuracy.dataset_path"), s.Pin)
	}
	data := ""
	for _, sub := range []string{"", "data", filepath.Join("bfcl_eval", "data")} {
		if _, err := os.Stat(filepath.Join(s.Dir, sub, "possible_answer")); err == nil && data == "" {
			data = filepath.Join(s.Dir, sub)
		}
	}
	if data == "" {
		return "", fmt.Errorf("%s %s: the folder possible_answer was not found there, in data or in bfcl_eval/data", s.Spell.As("accuracy.dataset_path"), s.Dir)
	}
	if s.Pin == AnyVersion || s.Pin == "" {
		return data, nil
	}
	absolute, err := filepath.Abs(data)
	if err != nil {
		return "", err
	}
	for _, up := range []string{".", "..", "../.."} {
		found, err := os.ReadDir(filepath.Join(absolute, up))
		if err != nil {
			continue
		}
		for _, f := range found {
			m := bfclRelease.FindStringSubmatch(f.Name())
			switch {
			case m == nil:
			case m[1] == s.Pin:
				return data, nil
			default:
				return "", fmt.Errorf("%s %s: the data belong to bfcl-eval %s, but AIPERF_ACCURACY_BFCL_VERSION_PIN requires %s", s.Spell.As("accuracy.dataset_path"), s.Dir, m[1], s.Pin)
			}
		}
	}
	return "", fmt.Errorf("%s %s: the release is unknown, because there is no folder bfcl_eval-*.dist-info next to the data; AIPERF_ACCURACY_BFCL_VERSION_PIN requires %s (set it to %s to skip this check)",
		s.Spell.As("accuracy.dataset_path"), s.Dir, s.Pin, AnyVersion)
}

// bfclFile reads a file with one object per line.
func bfclFile(path string) (rows []*members, err error) {
	const most = 64 << 20 // bytes
	text, err := boundedfile.ReadAll(path, most)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		v, err := readDocument(line)
		m, ok := v.(*members)
		if err == nil && !ok {
			err = errors.New("no object")
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		rows = append(rows, m)
	}
	return rows, nil
}

func bfclProblem(category string, e *members, answers map[string]document) (*Problem, error) {
	id, _ := e.at["id"].(string)
	turns, _ := e.at["question"].([]any)
	functions, ok := e.at["function"].([]any)
	if len(turns) == 0 || !ok {
		return nil, fmt.Errorf("%s: no question or no function", id)
	}
	messages, _ := turns[0].([]any)
	gold := &members{at: map[string]document{}}
	gold.set("category", category)
	gold.set("functions", functions)
	if !strings.HasSuffix(category, "relevance") {
		answer, ok := answers[id].([]any)
		if !ok {
			return nil, fmt.Errorf("%s: no answer with this id", id)
		}
		gold.set("answers", answer)
	}
	var b strings.Builder
	pythonJSON(&b, gold, -1, 0)
	p := &Problem{Task: category, Gold: b.String()}
	system, err := bfclSystem(category, functions)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	for i, item := range messages {
		m, _ := item.(*members)
		if m == nil {
			return nil, fmt.Errorf("%s: message %d is not an object", id, i)
		}
		role, _ := m.at["role"].(string)
		content, _ := m.at["content"].(string)
		if i == 0 && role == "system" {
			system += "\n\n" + content
			continue
		}
		p.Turns = append(p.Turns, Message{role, content})
	}
	p.Turns = append([]Message{{"system", system}}, p.Turns...)
	texts := make([]string, len(p.Turns))
	for i, m := range p.Turns {
		texts[i] = m.Content
	}
	p.Text = strings.Join(texts, "\n\n")
	return p, nil
}

// bfclPrompt is the published system message; the descriptions of the functions follow it.
const bfclPrompt = "You are an expert in composing functions.You are given a question and a set of possible functions. Based on the question, you will need to make one or " +
	"more function/tool calls to achieve the purpose. If none of the functions can be used, point it out. If the given question lacks the parameters required by the " +
	"function, also point it out.\n\nYou should only return the function calls in your response.\n\nIf you decide to invoke any of the function(s), you MUST put it in the " +
	"format of [func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)].  You SHOULD NOT include any other text in the response.\n\n" +
	"At each turn, you should try your best to complete the tasks requested by the user within the current turn. Continue to output functions to call until you have " +
	"fulfilled the user's request to the best of your ability. Once you have no more functions to call, the system will consider the current turn complete and proceed " +
	"to the next turn or task.\n\nHere is a list of functions in json format that you can invoke.\n"

// bfclLanguages holds the language-specific texts of the prompt: for function descriptions, for values, and the types whose elements are described.
var bfclLanguages = map[string]struct{ function, value, list, object string }{
	"java":       {"Java 8 SDK", "Java", "ArrayList Array", ""},
	"javascript": {"JavaScript", "JavaScript", "array", "dict"},
	"python":     {"Python 3", "", "", ""},
}

// bfclSystem returns the system message of a problem. It changes copies of the descriptions, because the gold answer needs the originals.
func bfclSystem(category string, functions []any) (string, error) {
	words := bfclLanguages["python"]
	if _, name, ok := strings.Cut(category, "simple_java"); ok {
		words = bfclLanguages["java"+name]
	}
	var plain, b strings.Builder
	pythonJSON(&plain, functions, -1, 0)
	copied, err := readDocument(plain.String())
	if err != nil {
		return "", err
	}
	list, _ := copied.([]any)
	for _, item := range list {
		f, _ := item.(*members)
		if f == nil {
			return "", errors.New("a function is not an object")
		}
		describe(f, " Note that the provided function is in "+words.function+" syntax.")
		parameters, _ := f.at["parameters"].(*members)
		if parameters == nil || words.value == "" {
			continue
		}
		properties, _ := parameters.at["properties"].(*members)
		if properties == nil {
			continue
		}
		for _, key := range properties.keys {
			if p, ok := properties.at[key].(*members); ok {
				bfclProperty(p, words.value, words.list, words.object)
			}
		}
	}
	pythonJSON(&b, list, 4, 0)
	return bfclPrompt + b.String() + "\n", nil
}

// bfclProperty describes an argument of another language as text in that language.
func bfclProperty(p *members, language, lists, object string) {
	kind, _ := p.at["type"].(string)
	if kind == "any" {
		describe(p, " This parameter can be of any type of "+language+" object in string representation.")
	} else {
		describe(p, " This is "+language+" "+kind+" type parameter in string representation.")
	}
	if items, ok := p.at["items"].(*members); ok && slices.Contains(strings.Fields(lists), kind) {
		element, _ := items.at["type"].(string)
		describe(p, " The list elements are of type "+element+"; they are not in string representation.")
		p.remove("items")
	}
	if inner, ok := p.at["properties"]; ok && kind == object {
		var b strings.Builder
		pythonJSON(&b, inner, -1, 0)
		describe(p, " The dictionary entries have the following schema; they are not in string representation. "+b.String())
		p.remove("properties")
	}
	p.set("type", "string")
}

func describe(m *members, more string) {
	text, _ := m.at["description"].(string)
	m.set("description", text+more)
}
