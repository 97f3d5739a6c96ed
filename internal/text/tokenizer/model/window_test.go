package model

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pairs is a model of random rules over the letters: the joined text is looked up, as rank files and scores do.
type pairs map[string]uint64

func (p pairs) pair(_, _ int32, piece string, a, b int32) uint64 {
	if v, ok := p[piece[a:b]]; ok {
		return v
	}
	return noPair
}

// randomPairs joins what it has at random, so that tokens grow out of tokens; a third of the ranks are shared.
func randomPairs(r *rand.Rand, letters string, rules int) pairs {
	p, texts := pairs{}, strings.Split(letters, "")
	for i := range rules {
		text := texts[r.IntN(len(texts))] + texts[r.IntN(len(texts))]
		if _, twice := p[text]; !twice && len(text) < 40 {
			p[text] = uint64(r.IntN(rules*2/3+1))<<32 | uint64(1000+i)
			texts = append(texts, text)
		}
	}
	return p
}

func symbolsOf(piece string) *Scratch {
	s := &Scratch{}
	for i := range len(piece) {
		s.ids, s.start = append(s.ids, int32(piece[i])), append(s.start, int32(i))
	}
	s.start = append(s.start, int32(len(piece)))
	return s
}

// same merges a piece by windows of a size, by the heap and by the plain scan.
func same(t *testing.T, p pairs, piece string, size int) {
	t.Helper()
	heap, window := symbolsOf(piece), symbolsOf(piece)
	mergeHeap(p, heap, piece)
	mergeWindows(p, window, piece, size)
	if !slices.Equal(heap.ids, window.ids) {
		t.Fatalf("windows of %d: %v\nheap: %v\n%q\n%v", size, window.ids, heap.ids, piece, p)
	}
	if len(piece) > linear {
		return
	}
	scan := symbolsOf(piece)
	merge(p, scan, piece)
	if !slices.Equal(heap.ids, scan.ids) {
		t.Fatalf("scan: %v\nheap: %v\n%q\n%v", scan.ids, heap.ids, piece, p)
	}
}

// TestWindows: windows, heap and scan agree, on noise and on what repeats, whatever the rules.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for range 4000 {
		letters := "abcdef"[:1+r.IntN(6)]
		p := randomPairs(r, letters, 1+r.IntN(60))
		var b strings.Builder
		for length := r.IntN(400); b.Len() < length; {
			word := make([]byte, 1+r.IntN(5))
			for i := range word {
				word[i] = letters[r.IntN(len(letters))]
			}
			b.WriteString(strings.Repeat(string(word), 1+r.IntN(30)))
		}
		same(t, p, b.String(), 1+r.IntN(64))
	}
}

// TestWindowsFarReach: rules by which the last letter changes every token before it, as far as a piece reaches.
func TestWindowsFarReach(t *testing.T) {
	p := pairs{"ab": 3<<32 | 1001, "ba": 2<<32 | 1002, "aba": 1<<32 | 1003, "bab": 1<<32 | 1004, "bc": 0<<32 | 1005, "cb": 0<<32 | 1006}
	for n := range 40 {
		for _, end := range []string{"", "a", "c", "bc", "bb"} {
			same(t, p, strings.Repeat("ab", 10*n)+end, 8)
			same(t, p, end+strings.Repeat("ba", 10*n)+end, 8)
		}
	}
}

func FuzzWindows(f *testing.F) {
	f.Add(uint64(1), "aaaaaaaaaaaaaaaaaaaaabababab", byte(8))
	f.Fuzz(func(t *testing.T, seed uint64, piece string, size byte) {
		if len(piece) > 4096 {
			return
		}
		same(t, randomPairs(rand.New(rand.NewPCG(seed, 1)), "abc"+piece[:min(len(piece), 5)], 40), piece, 1+int(size))
	})
}

// BenchmarkGiantWord compares one word of a megabyte, merged by windows and by one heap.
func BenchmarkGiantWord(b *testing.B) {
	p := pairs{}
	for n := 2; n <= 16; n *= 2 {
		p[strings.Repeat("a", n)] = uint64(n)<<32 | uint64(1000+n)
	}
	piece := strings.Repeat("a", 1<<20)
	for name, work := range map[string]func(*Scratch){
		"windows": func(s *Scratch) { mergeWindows(p, s, piece, window) },
		"heap":    func(s *Scratch) { mergeHeap(p, s, piece) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(piece)))
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				s := symbolsOf(piece)
				b.StartTimer()
				work(s)
			}
		})
	}
}
