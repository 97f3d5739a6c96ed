package public

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/weka"
)

// corpus stands for every text that prompts are cut from.
var corpus = sync.OnceValues(func() (*synth.Corpus, error) {
	tok, err := tokenizer.Builtin()
	if err != nil {
		return nil, err
	}
	return synth.NewO200kCorpus(tok)
})

// options returns the options for the command line of a case.
func (c *tcase) options(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	for name, b := range c.files {
		if rest, ok := strings.CutPrefix(name, "files/.cache/aiperf/datasets/"); ok {
			if err := os.WriteFile(filepath.Join(dir, rest), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := Options{Name: c.expect.Set, Cache: dir, Hub: c.serve(t), Count: func() (func(string) int, error) {
		tok, err := tokenizer.Builtin()
		if err != nil {
			return nil, err
		}
		return tok.Count, nil
	}}
	o.Options = custom.Options{
		Root: rng.NewDecimal("7"), DelayRatio: 1, Assignment: dataset.Assignment{Models: []string{"m"}, Strategy: "round_robin"},
		Corpus: func(name string) (*synth.Corpus, error) {
			if name != "coding" {
				t.Errorf("corpus %q", name)
			}
			return corpus()
		},
		Agents: weka.Options{Detection: weka.Detection{Split: true, SeamGap: 3600, SeamOverlap: 0.5, AuxRequests: 1, AuxRatio: 0.1, AuxFloor: 16384, AuxModel: true}},
	}
	words := strings.Fields(string(c.files["cmd.txt"]))
	number := func(i int) int {
		n, err := strconv.Atoi(words[i+1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i, w := range words {
		switch w {
		case "--num-dataset-entries":
			o.Entries = number(i)
			o.Options.Entries = o.Entries
		case "--num-conversations":
			o.Entries = number(i)
		case "--max-context-length":
			o.MaxContext = number(i)
		case "--hf-weka-dataset":
			o.Repo = words[i+1]
		case "--request-count":
			o.Requests = number(i)
		case "--hf-subset":
			o.Subset = strings.ReplaceAll(words[i+1], `\`, "") // unescape like a shell
		case "--fixed-schedule":
			o.Scheduled = true
		case "--dataset-filter":
			for _, f := range words[i+1:] {
				if strings.HasPrefix(f, "--") {
					break
				}
				o.Filters = append(o.Filters, f)
			}
		}
	}
	return o
}

// TestRecordedCases checks that the same repositories give the same conversations and the same errors as in the Python tool.
func TestRecordedCases(t *testing.T) {
	for name, c := range readCases(t) {
		if set := Find(c.expect.Set); set == nil || c.expect.Made || c.files["hub.json"] != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d, err := Open(t.Context(), c.options(t))
			if c.expect.Exit != 0 {
				refused(t, c, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(c.files["cmd.txt"]), "--osl") {
				return // here only the rows of the dataset set lengths
			}
			compare(t, c, d)
		})
	}
}

// refused checks the text of an error.
func refused(t *testing.T, c *tcase, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("was not refused")
	}
	says := strings.ToLower(err.Error())
	for _, raw := range c.expect.Words {
		var one string
		oneOf := []string{}
		if json.Unmarshal(raw, &one) == nil {
			oneOf = []string{one}
		} else if err := json.Unmarshal(raw, &oneOf); err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(oneOf, func(w string) bool {
			return strings.Contains(says, strings.ToLower(w)) || strings.Contains(says, "datasets.main.filters") && strings.Contains(w, "filter") ||
				strings.Contains(says, "datasets.main.entries") && strings.Contains(w, "entries")
		})
		if !found {
			t.Errorf("%q says none of %q", err, oneOf)
		}
	}
}

func compare(t *testing.T, c *tcase, d dataset.Dataset) {
	t.Helper()
	want := c.expect.Conversations
	if all := dataset.All(d); all < len(want) && len(want) > 0 {
		t.Fatalf("%d conversations, want %d", all, len(want))
	}
	for i, w := range want {
		got := d.Conversation(dataset.Nth(i, d.Len()))
		if c.expect.OwnIDs && got.ID != w.ID {
			t.Errorf("conversation %d: id %s, want %s", i, got.ID, w.ID)
		}
		if len(got.Turns) != len(w.Turns) {
			t.Errorf("%s: %d turns, want %d", w.ID, len(got.Turns), len(w.Turns))
			continue
		}
		for k := range w.Turns {
			if Find(c.expect.Set).Agents {
				recordedTurn(&got.Turns[k], &w.Turns[k], k)
			}
			if err := sameTurn(&got.Turns[k], &w.Turns[k]); err != nil {
				t.Errorf("%s turn %d: %v", w.ID, k, err)
			}
		}
	}
}

// recordedTurn makes the turns of a recorded agent comparable. Our turns hold all messages of a request; those of the Python tool only the new ones.
// Generated texts are compared only by the scorer. Our turns also state when an agent starts after its parent.
func recordedTurn(got *conversation.Turn, want *expectedTurn, turn int) {
	roles := func(list []json.RawMessage) []json.RawMessage {
		out := make([]json.RawMessage, len(list))
		for i, raw := range list {
			var m struct {
				Role string `json:"role"`
			}
			if json.Unmarshal(raw, &m) == nil {
				out[i], _ = json.Marshal(m)
			}
		}
		return out
	}
	want.Messages = roles(want.Messages)
	got.RawMessages = roles(got.RawMessages[max(0, len(got.RawMessages)-len(want.Messages)):])
	if turn == 0 {
		got.Delay = nil
	}
}

func sameTurn(got *conversation.Turn, want *expectedTurn) error {
	number := func(p *float64) string {
		if p == nil || *p == 0 {
			return "0"
		}
		return fmt.Sprintf("%.3f", *p)
	}
	switch {
	case want.MaxTokens != nil && (got.MaxTokens == nil || *got.MaxTokens != *want.MaxTokens):
		return fmt.Errorf("max tokens %v, want %d", got.MaxTokens, *want.MaxTokens)
	case number(got.Delay) != number(want.DelayMS):
		return fmt.Errorf("delay %s, want %s", number(got.Delay), number(want.DelayMS))
	case number(got.Timestamp) != number(want.TimestampMS):
		return fmt.Errorf("timestamp %s, want %s", number(got.Timestamp), number(want.TimestampMS))
	case want.Seconds != nil && math.Abs(got.AudioSeconds()-*want.Seconds) > 1e-5:
		return fmt.Errorf("%v s of sound, want %v", got.AudioSeconds(), *want.Seconds)
	case !sameJSON(got.ExtraBody, want.ExtraBody):
		return fmt.Errorf("extra body %s, want %s", got.ExtraBody, want.ExtraBody)
	case !sameJSON(got.RawTools, want.Tools):
		return fmt.Errorf("tools %s, want %s", got.RawTools, want.Tools)
	case len(got.RawMessages) != len(want.Messages):
		return fmt.Errorf("%d messages, want %d", len(got.RawMessages), len(want.Messages))
	case len(got.ExtraHeaders) != len(want.ExtraHeaders):
		return fmt.Errorf("headers %v, want %v", got.ExtraHeaders, want.ExtraHeaders)
	}
	for _, h := range got.ExtraHeaders {
		if want.ExtraHeaders[h.Name] != h.Value {
			return fmt.Errorf("header %s: %s", h.Name, h.Value)
		}
	}
	for i, m := range want.Messages {
		if !sameJSON(got.RawMessages[i], m) {
			return fmt.Errorf("message %s, want %s", got.RawMessages[i], m)
		}
	}
	return sameParts(got, want)
}

func sameJSON(a, b json.RawMessage) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// sameParts compares texts exactly and media by their properties.
func sameParts(got *conversation.Turn, want *expectedTurn) error {
	texts, images, audios, videos := want.Texts, want.Images, want.Audios, want.Videos
	take := func(list *[]any) any {
		if len(*list) == 0 {
			return nil
		}
		first := (*list)[0]
		*list = (*list)[1:]
		return first
	}
	for _, p := range got.Parts {
		var err error
		switch p.Kind {
		case conversation.Text:
			err = sameText(p.Text, take(&texts))
		case conversation.Image:
			err = sameImage(p.Blob, take(&images))
		case conversation.Audio:
			err = sameAudio(p.Blob, take(&audios))
		case conversation.Video:
			if w := take(&videos); p.Blob.Address() != w {
				err = fmt.Errorf("video %s, want %v", p.Blob.Address(), w)
			}
		}
		if err != nil {
			return err
		}
	}
	if left := len(texts) + len(images) + len(audios) + len(videos); left > 0 {
		return fmt.Errorf("%d parts are missing", left)
	}
	return nil
}

func sameText(got string, want any) error {
	if w, ok := want.(map[string]any); ok { // pieces in order, and a length
		rest := got
		for _, piece := range w["$template"].([]any) {
			_, after, ok := strings.Cut(rest, piece.(string))
			if !ok {
				return fmt.Errorf("text %q lacks %q", got, piece)
			}
			rest = after
		}
		if n := len([]rune(got)); math.Abs(float64(n)-w["chars"].(float64)) > 1 {
			return fmt.Errorf("text of %d characters, want %v", n, w["chars"])
		}
		return nil
	}
	if got != want {
		return fmt.Errorf("text %q, want %q", got, want)
	}
	return nil
}

func sameImage(b *conversation.Blob, want any) error {
	facts := want.(map[string]any)["$image"].(map[string]any)
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	img, kind, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if kind != facts["kind"] || b.MediaType() != facts["mime"] || float64(img.Bounds().Dx()) != facts["width"] || float64(img.Bounds().Dy()) != facts["height"] {
		return fmt.Errorf("%s %v, want %v", kind, img.Bounds(), facts)
	}
	return sameColours(img, facts["grid"].([]any))
}

// sameColours compares the means of 4 × 4 areas. Quantisation may change a few steps.
func sameColours(img image.Image, grid []any) error {
	w, h := float64(img.Bounds().Dx()), float64(img.Bounds().Dy())
	for i, cell := range grid {
		x0, y0 := float64(i%4)*w/4, float64(i/4)*h/4
		mean := areaMean(img, x0, y0, x0+w/4, y0+h/4)
		for k, v := range cell.([]any) {
			if math.Abs(mean[k]-v.(float64)) > 12 {
				return fmt.Errorf("colour %d of area %d is %.0f, want %v", k, i, mean[k], v)
			}
		}
	}
	return nil
}

// areaMean returns the mean colour of an area. Pixels at its edges count by the part inside it.
func areaMean(img image.Image, x0, y0, x1, y1 float64) (mean [3]float64) {
	inside := func(i int, from, to float64) float64 { return min(float64(i+1), to) - max(float64(i), from) }
	whole := 0.0
	for y := int(y0); float64(y) < y1; y++ {
		for x := int(x0); float64(x) < x1; x++ {
			part := inside(x, x0, x1) * inside(y, y0, y1)
			r, g, b, _ := img.At(x, y).RGBA()
			for k, c := range []uint32{r, g, b} {
				mean[k] += part * float64(c>>8)
			}
			whole += part
		}
	}
	for k := range mean {
		mean[k] /= whole
	}
	return mean
}

func sameAudio(b *conversation.Blob, want any) error {
	facts := want.(map[string]any)["$audio"].(map[string]any)
	raw, err := b.Bytes()
	if err != nil {
		return err
	}
	p, err := decodeSound(string(raw))
	if err != nil {
		return err
	}
	if float64(p.rate) != facts["rate"] || float64(p.channels) != facts["channels"] || float64(len(p.samples)/p.channels) != facts["frames"] {
		return fmt.Errorf("%d Hz, %d channels, %d samples, want %v", p.rate, p.channels, len(p.samples), facts)
	}
	for i, v := range facts["first"].([]any) {
		if got := math.Round(p.samples[i] * 32768); math.Abs(got-v.(float64)) > 2 {
			return fmt.Errorf("sample %d is %v, want %v", i, got, v)
		}
	}
	return nil
}

// TestEverySetOpens checks that a small repository for each set, written by another library, gives the first prompt of its rows.
func TestEverySetOpens(t *testing.T) {
	opened := map[string]bool{}
	for name, c := range readCases(t) {
		switch {
		case c.expect.Exit == 0 && len(c.expect.Conversations) > 0:
			opened[c.expect.Set] = true // TestRecordedCases reads it
		case c.expect.Made:
			opened[c.expect.Set] = true
			d, err := Open(t.Context(), c.options(t))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			turn := d.Conversation(0).Turns[0]
			b, err := json.Marshal([]any{turn.Contents(), turn.RawMessages})
			if Find(c.expect.Set).Agents {
				if dataset.All(d) != 2 || len(turn.RawMessages) != 2 || len(d.Conversation(dataset.FirstStarted).Turns) != 1 {
					t.Errorf("%s: %d conversations, messages %.200s", name, d.Len(), turn.RawMessages)
				}
				continue
			}
			if err != nil || !strings.Contains(string(b), "first") && !strings.Contains(string(b), transcribe) {
				t.Errorf("%s: the first prompt is %s (%v)", name, b, err)
			}
		}
	}
	for i := range Sets {
		if !opened[Sets[i].Name] {
			t.Errorf("no case opens %s", Sets[i].Name)
		}
	}
}

func TestOrientation(t *testing.T) {
	// an image of two pixels, red and blue, with every orientation
	exif := func(n byte) string {
		tiff := "MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(n)) + "\x00\x00\x00\x00\x00\x00"
		return "\xff\xd8\xff\xe1\x00" + string(rune(2+6+len(tiff))) + "Exif\x00\x00" + tiff + "\xff\xda"
	}
	for n := byte(1); n <= 8; n++ {
		if got := orientation(exif(n)); got != int(n) {
			t.Errorf("orientation %d is read as %d", n, got)
		}
	}
	for _, raw := range []string{"", "\xff\xd8", "\x89PNG", exif(9), exif(1)[:20]} {
		if got := orientation(raw); got != 1 {
			t.Errorf("%q: orientation %d", raw, got)
		}
	}
	img := image.NewNRGBA(image.Rect(0, 0, 2, 3))
	for i := range 6 {
		img.Pix[4*i], img.Pix[4*i+3] = byte(i), 255 // 0 1 / 2 3 / 4 5
	}
	for n, want := range map[int]string{
		1: "01/23/45", 2: "10/32/54", 3: "54/32/10", 4: "45/23/01", 5: "024/135", 6: "420/531", 7: "531/420", 8: "135/024",
	} {
		out := turned(img, n)
		var rows []string
		for y := range out.Bounds().Dy() {
			row := ""
			for x := range out.Bounds().Dx() {
				r, _, _, _ := out.At(x, y).RGBA()
				row += strconv.Itoa(int(r >> 8))
			}
			rows = append(rows, row)
		}
		if got := strings.Join(rows, "/"); got != want {
			t.Errorf("orientation %d: %s, want %s", n, got, want)
		}
	}
}

// TestSplitsByName checks the split that a path names, as in the documentation of the hub.
func TestSplitsByName(t *testing.T) {
	for _, c := range []struct {
		names string
		want  map[string][]string
	}{
		{"a.parquet b.jsonl README.md", map[string][]string{"train": {"a.parquet", "b.jsonl"}}},
		{"train.csv x/test/0.parquet dev.json", map[string][]string{"train": {"train.csv"}, "test": {"x/test/0.parquet"}, "validation": {"dev.json"}}},
		{"data/val-00000-of-00001.parquet data/trainer.parquet", map[string][]string{"val": {"data/val-00000-of-00001.parquet"}}},
		{"latest.parquet", map[string][]string{"train": {"latest.parquet"}}},
	} {
		if got := bySplit(strings.Fields(c.names)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.names, got, c.want)
		}
	}
	for glob, names := range map[string]string{
		"data/*.parquet": "data/a.parquet !data/b/a.parquet", "**/*.json": "a.json b/c/a.json !a.jsonl", "t?st-*": "test-0 !toast-0", "x[0-2].csv": "x1.csv !x3.csv", "a[!b].csv": "ac.csv !ab.csv",
	} {
		for _, n := range strings.Fields(names) {
			n, not := strings.CutPrefix(n, "!")
			if globPattern(glob).MatchString(n) == not {
				t.Errorf("glob %s and %s: %v", glob, n, !not)
			}
		}
	}
}
