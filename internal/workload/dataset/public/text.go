package public

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/custom"
)

// text formats a value like Python: a number in its shortest form, True, a list in brackets.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case string:
		return v
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return pythonFloat(v)
	}
	return fmt.Sprint(v)
}

// pythonFloat formats a number like Python's repr: the shortest digits that parse to the same number, with a point, and exponents from 1e16 on.
func pythonFloat(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) || math.IsInf(f, 0) || math.IsNaN(f) {
		return strings.ToLower(strconv.FormatFloat(f, 'e', -1, 64))
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// blank reports whether a value cannot be a prompt: null, zero, false, an empty list, or only white space.
func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case int64:
		return v == 0
	case float64:
		return v == 0
	case bool:
		return !v
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// single returns a conversation of one turn.
func single(where string, parts ...conversation.Part) conversation.Conversation {
	return conversation.Conversation{Turns: []conversation.Turn{{Parts: parts, Origin: where}}}
}

func textPart(s string) conversation.Part { return conversation.Part{Kind: conversation.Text, Text: s} }

// promptOf builds a prompt from a column, unchanged, with the image of another column; image "" = none.
func promptOf(column, image string) func(*builder) (convert, error) {
	return func(b *builder) (convert, error) {
		return func(r row) error {
			if blank(r.Row[column]) {
				return b.skip("without text in " + column)
			}
			parts := []conversation.Part{textPart(text(r.Row[column]))}
			if image != "" {
				p, err := b.picture(r, r.Row[image])
				if err != nil {
					return err
				}
				if p != nil {
					parts = append(parts, conversation.Part{Kind: conversation.Image, Blob: p})
				}
			}
			b.Add(single(r.where, parts...))
			return nil
		}, nil
	}
}

// changeRequest is the prompt of the edit sets. Only the length of the fixed text matters (public-datasets.json, blazedit_5k: the whole fixed text has
// 195 characters).
var changeRequest = [3]string{
	"Edit the file below so that it does what the change request asks for, no more.\n\nOriginal file:\n```python\n",
	"\n```\n\nChange request:\n```\n",
	"\n```\n\nWrite the whole edited file in a section named \"New file\".",
}

func changes(b *builder) (convert, error) {
	return func(r row) error {
		t := changeRequest[0] + text(r.Row["code"]) + changeRequest[1] + text(r.Row["change_request"]) + changeRequest[2]
		b.Add(single(r.where, textPart(t)))
		return nil
	}, nil
}

// turnsOf builds a conversation from a list of user messages.
func turnsOf(column string) func(*builder) (convert, error) {
	return func(b *builder) (convert, error) {
		return func(r row) error {
			list, ok := r.Row[column].([]any)
			if !ok {
				return b.skip("without a list in " + column)
			}
			c := conversation.Conversation{Mode: conversation.DeltasWithoutResponses}
			for _, v := range list {
				if blank(v) {
					continue
				}
				c.Turns = append(c.Turns, conversation.Turn{Parts: conversation.Texts("", strings.TrimSpace(text(v))), Origin: r.where})
			}
			if len(c.Turns) == 0 {
				return b.skip("without text in " + column)
			}
			b.Add(c)
			return nil
		}, nil
	}
}

// questionsOf builds conversations from the rows of a category; "" = all.
func questionsOf(category string) func(*builder) (convert, error) {
	return func(b *builder) (convert, error) {
		seen := map[string]bool{}
		return func(r row) error {
			if category != "" && r.Row["category"] != category {
				return b.skip("of other categories")
			}
			list, ok := r.Row["turns"].([]any)
			if !ok || len(list) == 0 {
				return fmt.Errorf("%s: turns: must be a list of texts, got %.40v", r.where, r.Row["turns"])
			}
			id := text(r.Row["question_id"])
			if seen[id] {
				return fmt.Errorf("%s: question_id %s exists twice", r.where, id)
			}
			seen[id] = true
			c := conversation.Conversation{ID: id}
			for _, v := range list {
				if strings.Contains(text(v), custom.SpeedBenchStub) {
					return errors.New(r.where + b.Spell.Text(": the prompt is a placeholder; prepare the data with specdec_bench and give it with {datasets.main.path} FILE {datasets.main.format} ") + b.set.Name)
				}
				c.Turns = append(c.Turns, conversation.Turn{Role: "user", Parts: conversation.Texts("", text(v)), Origin: r.where})
			}
			b.Add(c)
			return nil
		}, nil
	}
}

// videoQuestions builds questions about a video with multiple choice answers. The video is sent by its URL.
func videoQuestions(b *builder) (convert, error) {
	return func(r row) error {
		var words []string
		if q := strings.TrimSpace(optional(r.Row["question"])); q != "" {
			words = append(words, q)
		}
		choices, _ := r.Row["choices"].(map[string]any)
		for _, letter := range slices.Sorted(maps.Keys(choices)) {
			if v := choices[letter]; v != nil && v != "" {
				words = append(words, letter+"."+text(v))
			}
		}
		if len(words) == 0 {
			return b.skip("without text")
		}
		address := optional(r.Row["video"])
		if address == "" {
			return b.skip("without a video")
		}
		if !strings.Contains(address, "://") && !strings.HasPrefix(address, "data:") {
			address = "file://" + address
		}
		film := conversation.Part{Kind: conversation.Video, Blob: conversation.Authored(conversation.Video, address)}
		b.Add(single(r.where, textPart(strings.Join(words, " ")), film))
		return nil
	}, nil
}

// optional returns a text that may be null.
func optional(v any) string {
	if v == nil {
		return ""
	}
	return text(v)
}
