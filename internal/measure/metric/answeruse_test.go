package metric

import (
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// TestUnreadable: messages that are not JSON are counted for valid answers only. A few are a note; in more than 1 % of the answers they make a valid run
// uncertain, and no other figure is then called accurate.
func TestUnreadable(t *testing.T) {
	set := newSelection(t, chat)
	r := set.NewReducer()
	for _, n := range []int{0, 2, 1} {
		rec, reply := streamed(0, 150, 160)
		reply.Unreadable = n
		row := set.Row(rec, reply, record.Counts{Input: 20, Output: 2, Reasoning: -1})
		copied, err := set.ReadRow(row.Append(nil))
		if err != nil || copied.Unreadable != int64(n) {
			t.Fatalf("%v, %+v", err, copied)
		}
		r.Add(copied)
	}
	failed, reply := streamed(0, 150, 160)
	failed.Error, reply.Unreadable = &record.Error{Type: "X"}, 5
	r.Add(set.Row(failed, reply, record.Counts{Input: 20, Output: 2, Reasoning: -1}))
	if u := r.Summary(Window{}).AnswerUse; u != (AnswerUse{UnreadableMessages: 3, UnreadableAnswers: 2}) {
		t.Errorf("%+v", u)
	}

	const sentence = "aiperf could not read 3 messages in %s of 100 answers as JSON."
	for answers, want := range map[int64]Verdict{1: VerdictValid, 2: VerdictUncertain} {
		e := calm()
		e.AnswerUse = AnswerUse{UnreadableMessages: 3, UnreadableAnswers: answers}
		said := strings.Replace(sentence, "%s", map[int64]string{1: "1", 2: "2"}[answers], 1)
		v := Assess(e, stated(150, 140, 150), nil)
		notes := strings.Join(v.Notes, "\n")
		if answers == 1 && (strings.Contains(v.Reason, said) || !strings.Contains(notes, said)) || answers == 2 && (!strings.Contains(v.Reason, said) || strings.Contains(notes, said)) {
			t.Errorf("%d answers: %s\n%s", answers, v.Sentence(), notes)
		}
		if got := strings.Contains(v.Reason, "The other averages"); got != (answers == 1) {
			t.Errorf("%d answers: %s", answers, v.Sentence())
		}
		if v := Assess(e, nil, nil); v.Verdict != want {
			t.Errorf("%d answers: %s", answers, v.Sentence())
		}
	}
}

// TestUnfinished: valid answers without a finish reason are a note if others have one.
func TestUnfinished(t *testing.T) {
	set := newSelection(t, chat)
	for _, c := range []struct {
		reasons []string
		failed  int // requests of them that failed, the last ones
		want    string
	}{
		{[]string{"stop", "", "length"}, 0, "1 of 3 answers came without"},
		{[]string{"stop", "", ""}, 0, "2 of 3 answers came without"},
		{[]string{"stop", "stop", ""}, 1, ""},
		{[]string{"", "", "stop"}, 1, ""},
		{[]string{"", ""}, 0, ""},
	} {
		r := set.NewReducer()
		for i, reason := range c.reasons {
			rec, reply := streamed(0, 150, 160)
			if reply.FinishReason = reason; i >= len(c.reasons)-c.failed {
				rec.Error = &record.Error{Type: "X"}
			}
			row, err := set.ReadRow(set.Row(rec, reply, record.Counts{Input: 20, Output: 2, Reasoning: -1}).Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			r.Add(row)
		}
		e, s := calm(), r.Summary(Window{})
		e.Valid, e.AnswerUse = s.Valid, s.AnswerUse
		notes := strings.Join(Assess(e, nil, nil).Notes, "\n")
		if got := strings.Contains(notes, "finish reason"); got != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%q, %d failed: %s; want %q", c.reasons, c.failed, notes, c.want)
		}
	}
}

// TestAlternatingChoicesAreNoted: alternating choices are counted, and a note says what ITL is then; the run stays valid.
func TestAlternatingChoicesAreNoted(t *testing.T) {
	set := newSelection(t, chat)
	r := set.NewReducer()
	rec, reply := streamed(0, 150, 160)
	reply.AlternatingChoices = true
	row, err := set.ReadRow(set.Row(rec, reply, record.Counts{Input: 20, Output: 2, Reasoning: -1}).Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	r.Add(row)
	if u := r.Summary(Window{}).AnswerUse; u != (AnswerUse{AlternatingChoices: 1}) {
		t.Errorf("%+v", u)
	}
	const says = "1 of 100 answers have several choices (n) in alternating messages."
	e := calm()
	if notes := strings.Join(Assess(e, nil, nil).Notes, "\n"); strings.Contains(notes, "choices") {
		t.Error(notes)
	}
	e.AnswerUse.AlternatingChoices = 1
	if v := Assess(e, nil, nil); v.Verdict != VerdictValid || !strings.Contains(strings.Join(v.Notes, "\n"), says) {
		t.Error(v.Sentence(), v.Notes)
	}
}

// TestMiscounted: answers of which only the first choice was counted make a run uncertain, unless the server counts the tokens. So do answers that
// the server counted before their end, and those that it did not count, unless it counted none.
func TestMiscounted(t *testing.T) {
	for _, server := range []bool{false, true} {
		options := chat
		options.ServerTokens = server
		set := newSelection(t, options)
		r := set.NewReducer()
		for _, wrong := range []bool{false, true} {
			rec, reply := streamed(0, 150, 160)
			reply.MoreChoices, reply.EarlyUsage = wrong, wrong
			row, err := set.ReadRow(set.Row(rec, reply, record.Counts{Input: 20, Output: 2, Reasoning: -1}).Append(nil))
			if err != nil || row.MissingUsage || row.MoreChoices != (wrong && !server) || row.EarlyUsage != (wrong && server) {
				t.Fatalf("%v, %+v", err, row)
			}
			r.Add(row)
		}
		rec, reply := streamed(0, 150, 160)
		row, err := set.ReadRow(set.Row(rec, reply, record.Counts{Input: 20, Output: -1, Reasoning: -1}).Append(nil))
		if err != nil || row.MissingUsage != server {
			t.Fatalf("%v, %+v", err, row)
		}
		r.Add(row)
		want := map[bool]AnswerUse{false: {MoreChoices: 1}, true: {EarlyUsages: 1, MissingUsages: 1}}[server]
		if u := r.Summary(Window{}).AnswerUse; u != want {
			t.Errorf("%+v, want %+v", u, want)
		}
	}
	for name, c := range map[string]struct {
		use func(n int64) AnswerUse
		why string
	}{
		"have several choices": {func(n int64) AnswerUse { return AnswerUse{MoreChoices: n} }, UncountedChoices},
		"no token count":       {func(n int64) AnswerUse { return AnswerUse{MissingUsages: n} }, MissingUsage},
		"content came after":   {func(n int64) AnswerUse { return AnswerUse{EarlyUsages: n} }, EarlyUsage},
	} {
		for answers, want := range map[int64]Verdict{1: VerdictValid, 2: VerdictUncertain} {
			e := calm()
			e.AnswerUse = c.use(answers)
			v := Assess(e, nil, nil)
			notes := strings.Join(v.Notes, "\n")
			if many := answers == 2; v.Verdict != want || (v.Unread() == c.why) != many || strings.Contains(v.Reason, name) != many || strings.Contains(notes, name) == many {
				t.Errorf("%d of 100 answers: %s\n%s", answers, v.Sentence(), notes)
			}
		}
	}
}

// TestNoUsageAtAll: a run in which the server counted no answer has no token figures. Its other figures are as good as always.
func TestNoUsageAtAll(t *testing.T) {
	e := calm()
	e.AnswerUse.MissingUsages = e.Valid
	const says = "The server reported no token count (usage) in any answer"
	if v := Assess(e, nil, nil); v.Verdict != VerdictValid || v.Unread() != "" || !strings.Contains(strings.Join(v.Notes, "\n"), says) {
		t.Error(v.Sentence(), v.Notes)
	}
}

// TestAborted: a note counts the answers whose finish reason says that the server gave up. They stay successful.
func TestAborted(t *testing.T) {
	set := newSelection(t, chat)
	r := set.NewReducer()
	for _, reason := range []string{"stop", "length", "abort", "ERROR", "timeout", "", "content_filter"} {
		rec, reply := streamed(0, 150, 160)
		reply.FinishReason = reason
		row, err := set.ReadRow(set.Row(rec, reply, record.Counts{Input: 20, Output: 2, Reasoning: -1}).Append(nil))
		if err != nil || row.Class != Valid {
			t.Fatalf("%v, %+v", err, row)
		}
		r.Add(row)
	}
	if u, want := r.Summary(Window{}).AnswerUse, (AnswerUse{Aborted: 3, FinishReasons: 6}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
	e := calm()
	e.AnswerUse.Aborted = 2
	if v := Assess(e, nil, nil); v.Verdict != VerdictValid || !strings.Contains(strings.Join(v.Notes, "\n"), "2 of 100 answers ended with a finish reason") {
		t.Error(v.Sentence(), v.Notes)
	}
}
