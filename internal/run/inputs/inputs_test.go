package inputs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/run/component"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// generated is a dataset whose texts are made; it counts how often.
type generated struct {
	dataset.Dataset
	n    int
	made map[int]int
}

func (g *generated) Len() int                                     { return g.n }
func (g *generated) Draft(int) (*conversation.Conversation, bool) { return nil, false }
func (g *generated) Info() dataset.Info                           { return dataset.Info{} }
func (g *generated) Conversation(i int) *conversation.Conversation {
	g.made[i]++
	return &conversation.Conversation{ID: fmt.Sprint("s", i), System: "S", Turns: []conversation.Turn{
		{Parts: conversation.Texts("", fmt.Sprint("a", i))}, {Parts: conversation.Texts("", fmt.Sprint("b", i))}}}
}

func listed(t *testing.T, path string) (ids []string, payloads []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Data []struct {
			ID       string            `json:"session_id"`
			Payloads []json.RawMessage `json:"payloads"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Data {
		ids = append(ids, d.ID)
		for _, p := range d.Payloads {
			payloads = append(payloads, string(p))
		}
	}
	return ids, payloads
}

// TestInputsAreListedBesideTheRun: conversations of sent requests come in any order and once; the rest follows when the load is over, in the
// order of the dataset, every turn alone.
func TestInputsAreListedBesideTheRun(t *testing.T) {
	data := &generated{n: 6, made: map[int]int{}}
	p, codec, path := NewPreparedStore(data), chatCodec(t), filepath.Join(t.TempDir(), "inputs.json")
	if err := CheckBodies(context.Background(), p, &endpoint.Endpoint{}, codec, true, func(string) {}); err != nil || len(data.made) != 1 {
		t.Fatalf("%v; %d conversations were made before the run", err, len(data.made))
	}
	l := NewFileWriter(path, nil, p, codec, func(string) {})
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	data.made = map[int]int{}
	for _, i := range []int{2, 1, 4, 1} {
		s := p.Get(i)
		first, err := EncodeAlone(codec, s.Conversation, 0)
		if err != nil {
			t.Fatal(err)
		}
		if s.First == nil {
			p.Keep(i, s.Conversation, &first)
		}
		l.Offer(i, s.Conversation, &first)
	}
	if missing, err := l.finish(context.Background()); missing != 0 || err != nil {
		t.Fatal(missing, err)
	}
	ids, payloads := listed(t, path)
	if strings.Join(ids, " ") != "s0 s1 s2 s3 s4 s5" || len(payloads) != 12 || !strings.Contains(payloads[5], `"b2"`) || strings.Contains(payloads[5], `"a2"`) ||
		!strings.Contains(payloads[5], `"S"`) {
		t.Errorf("%q %q", ids, payloads)
	}
	for i, n := range data.made {
		if n != 1 {
			t.Errorf("conversation %d was made %d times", i, n)
		}
	}
}

// TestListingKeepsPace: what the check before the run made and keeps holds nothing up, and what waits for a conversation that is not there yet
// is bounded in bytes.
func TestListingKeepsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := &generated{n: 300, made: map[int]int{}}
		p, codec := NewPreparedStore(data), chatCodec(t)
		if err := CheckBodies(t.Context(), p, &endpoint.Endpoint{}, codec, true, func(string) {}); err != nil {
			t.Fatal(err)
		}
		l := NewFileWriter(filepath.Join(t.TempDir(), "inputs.json"), nil, p, codec, func(string) {})
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		small, large := []byte(`"x"`), []byte(`"`+strings.Repeat("x", 1<<20)+`"`)
		offer := func(i int, body []byte) {
			l.Offer(i, data.Conversation(i), &endpoint.Request{Body: record.Plain(body)})
			synctest.Wait()
		}
		for i := 1; i < 100; i++ { // the first one was made by the check
			offer(i, small)
		}
		if l.next != 100 || l.held.Load() != 0 {
			t.Errorf("%d conversations written beside the load, %d bytes held; want 100, 0", l.next, l.held.Load())
		}
		for i := 101; i < 200; i++ { // number 100 never comes
			offer(i, large)
		}
		if held := l.held.Load(); l.next != 100 || held > maxHeldBytes || held != int64(len(l.early)*len(large)) || held < maxHeldBytes/2 {
			t.Errorf("%d written, %d wait with %d bytes; want 100 and at most %d bytes", l.next, len(l.early), held, maxHeldBytes)
		}
		if missing, err := l.finish(t.Context()); missing != 0 || err != nil || l.held.Load() != 0 {
			t.Errorf("%d missing, %v, %d bytes held", missing, err, l.held.Load())
		}
	})
}

// TestLostOffers: a few conversations that were not offered are generated during the load as soon as many wait for them; the others are not made
// twice. In random order nothing is generated.
func TestLostOffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for stride, want := range map[int]int{1: 600, 7: 0} {
			data := &generated{n: 600 * stride, made: map[int]int{}}
			l := NewFileWriter(filepath.Join(t.TempDir(), "inputs.json"), nil, NewPreparedStore(data), chatCodec(t), func(string) {})
			if err := l.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := range 600 {
				if i == 0 || i == 200 || i == 201 { // lost
					continue
				}
				l.Offer(i*stride, data.Conversation(i*stride), &endpoint.Request{Body: record.Plain([]byte(`"x"`))})
				synctest.Wait()
			}
			if l.next != want {
				t.Errorf("stride %d: %d conversations written beside the load, want %d", stride, l.next, want)
			}
			if missing, err := l.finish(t.Context()); missing != 0 || err != nil {
				t.Fatal(missing, err)
			}
			for i, n := range data.made {
				if stride == 1 && n != 1 {
					t.Errorf("conversation %d was made %d times", i, n)
				}
			}
		}
	})
}

// TestInterruptedListing: what is there is a whole file.
func TestInterruptedListing(t *testing.T) {
	data := &generated{n: 1 << 40, made: map[int]int{}}
	path := filepath.Join(t.TempDir(), "inputs.json")
	l := NewFileWriter(path, nil, NewPreparedStore(data), chatCodec(t), func(string) {})
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("interrupted"))
	missing, err := l.finish(ctx)
	if err != nil || data.n-missing != maxLate {
		t.Fatal(missing, err)
	}
	if ids, _ := listed(t, path); len(ids) != data.n-missing {
		t.Errorf("%d listed, %d missing of %d", len(ids), missing, data.n)
	}
}

// TestALongListingIsTold: while the user waits for the file, the progress is shown.
func TestALongListingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := &generated{n: 30, made: map[int]int{}}
		l := NewFileWriter(filepath.Join(t.TempDir(), "inputs.json"), nil, NewPreparedStore(data), slowly{chatCodec(t)}, func(string) {})
		var told []string
		l.Tell = func(done, of int) { told = append(told, fmt.Sprint(done, " of ", of)) }
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if missing, err := l.finish(t.Context()); missing != 0 || err != nil {
			t.Fatal(missing, err)
		}
		if strings.Join(told, ", ") != "5 of 30, 10 of 30, 15 of 30, 20 of 30, 25 of 30" {
			t.Error(told)
		}
	})
}

// slowly is a codec that takes half a second for a turn.
type slowly struct{ endpoint.Codec }

func (s slowly) Encode(t *conversation.Turn, h *endpoint.History) (endpoint.Request, error) {
	time.Sleep(time.Second / 2)
	return s.Codec.Encode(t, h)
}

// refusing is a codec that cannot word some turns.
type refusing struct{ endpoint.Codec }

func (r refusing) Encode(t *conversation.Turn, h *endpoint.History) (endpoint.Request, error) {
	if t.Parts[0].Text == "b3" {
		return endpoint.Request{}, &endpoint.FormatError{Class: "ValueError", Message: "no"}
	}
	return r.Codec.Encode(t, h)
}

func TestAListingThatCannotBeMadeIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inputs.json")
	l := NewFileWriter(path, nil, NewPreparedStore(&generated{n: 6, made: map[int]int{}}), refusing{chatCodec(t)}, func(string) {})
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.finish(context.Background()); err == nil || !strings.Contains(err.Error(), "conversation s3, turn 2: no") {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestWhatIsWrittenIsNotHurried: a component that completes a file gets the run's own context, without a deadline, and sees the interruption.
func TestWhatIsWrittenIsNotHurried(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var told []string
	data := &generated{n: maxLate + 7, made: map[int]int{}}
	l := NewFileWriter(filepath.Join(t.TempDir(), "inputs.json"), nil, NewPreparedStore(data), chatCodec(t), func(s string) { told = append(told, s) })
	c := component.List{Unhurried: true}
	if err := c.Start(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(ctx); err != nil || len(told) != 1 || !strings.Contains(told[0], "lists 1,000 of 1,007 conversations") {
		t.Errorf("%v, told %q", err, told)
	}
}

// chatCodec is the codec of the chat endpoint.
func chatCodec(t *testing.T) endpoint.Codec {
	t.Helper()
	e, _, err := endpoint.Lookup("chat")
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Codec(endpoint.Settings{Model: "m", Streaming: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
