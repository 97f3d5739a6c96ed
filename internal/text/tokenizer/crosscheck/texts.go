package main

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// fragments are the parts of random texts: one list per kind of difficulty.
var fragments = [][]string{
	strings.Fields("the quick brown fox jumps over a lazy dog while HTTPServer parseJSONResponse snake_case_name kebab-case X11 iPhone15Pro " +
		"it's we're I'LL you'VE DON'T rock'n'roll O'Neil naïve café Straße ŒUVRE İstanbul ıI ſtraße'ſ DŽ Dž dž ﬁne ﬃ Å"),
	{" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", " \n", "\n ", "\u00a0", "\u3000", "\u2003", "\u200b", "\u2028", "\u2029", "\u0085", "\v", "\f", "\ufeff", "     \n\n  \t", "\u1680", "\u202f"},
	strings.Fields("0 1 12 123 1234 12345 1234567890 3.14159 1e-9 0xFF 0b1010 ١٢٣ १२३ ๑๒๓ Ⅷ ½ ² ① 𝟘𝟙 ೧೨ 一二三 1,000,000.00 2026-11-21T13:51:09Z 192.168.0.1"),
	strings.Fields("你好，世界。 人工智能 漢字かな交じり文 カタカナ ﾊﾝｶｸ 안녕하세요 한글 ㄱㄴ 繁體 々〆 ー ・ 「引用」 𠀀𠮷 ㋿ ㍿ ﷺ"),
	strings.Fields("Привет мир ёлка Ελληνικά ΑΣ ς שלום עולם مرحبا بالعالم ٱلسَّلَامُ हिन्दी क्षत्रिय தமிழ் ไทยไม่มี မြန်မာ ខ្មែរ ქართული Հայերեն አማርኛ বাংলা ᠮᠣᠩ ᏣᎳᎩ"),
	{"👍", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "☃️", "❤", "🫠", "🫩", "e\u0301", "a\u030a\u0323", "\u1100\u1161\u11a8", "ก็", "Z̷̢̛a̸l̶g̵o̴", "\u0301", "\u200d", "\ufe0f", "q\u0307\u0323", "\u0f73", "\u1e9b\u0323"},
	{"!", "?!", "...", "---", "==", "!=", "=>", "();", "{}", "[]", "<>", "/*", "*/", "//", "#", "@", "$", "%", "^", "&", "`", "~", "|", "\\", "\\n", "\"", "'", "''", "“”", "‘", "’", "—", "…", "¿", "¡", "§", "€", "₿", "№", "†", "\u0007", "\u0000", "\u007f", "\u0080", "\u00ad"},
	{"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<s>", "</s>", "<unk>", "<pad>", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "<|eot_id|>", "<|begin_of_text|>", "<bos>", "<eos>", "<start_of_turn>", "<|endofprompt|>", "<|endoftext", "|>", "<mask>", "<extra_id_0>", "[INST]", "[/INST]", "<｜begin▁of▁sentence｜>", "<tool_call>", "<think>", "</think>", "<0x0A>", "<0x41>", "▁", "▁▁", "▁the", "Ġ", "Ċ", "##ing"},
	{"def f(x):\n    return x + 1\n", "for (int i = 0; i < n; ++i) {\n\t\ta[i] += b[i];\n\t}\n", "SELECT * FROM t WHERE a = 'b';", "https://example.org/a/b?c=d&e=%20f#g", "{\"key\": [1, 2.5, null, true]}", "<div class=\"x\">&nbsp;</div>", "| a | b |\n|---|---|\n", "C:\\Users\\x", "user@example.com", "$HOME/.cache", "# Title\n\n- item\n", "```go\nfunc main() {}\n```\n"},
	{"\u1c89", "\ua7cb", "\U00010d50", "\U0001c100", "\u0897", "\U00011380", "\U000105c0", "\U00010d40", "\U00016d40", "\U0001ccf0", "\U0001fae9", "\u2fff", "\U0002ebf0", "\U00013430", "\u061d", "\u08c8", "\u20c0", "\U0001e030", "\u0cf3", "\U00011f00", "\u1cf2", "\u166d", "\u0890", "\u1734", "\U0001171e", "\u07fd", "\U00011938", "\U00016ac0", "\ue000", "\U000f0000", "\uffff", "\ufffe", "\u0378", "\ufffd"},
}

// texts generates n texts from a seed: combinations of fragments of one to four kinds, and random code points.
func texts(n int, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	out := []string{"", " ", "a", "\n", strings.Repeat("a", 3000), strings.Repeat(" ", 3000), strings.Repeat("\n", 500), strings.Repeat("👍", 500),
		strings.Repeat("e\u0301", 300), "a" + strings.Repeat("\u0301\u0323", 40), "a" + strings.Repeat("\u0301", 35) + "\u0334b", strings.Repeat("ab ", 1000), strings.Repeat("你好", 500)}
	for len(out) < n {
		var b strings.Builder
		kinds := make([]int, 1+r.IntN(4))
		for i := range kinds {
			kinds[i] = r.IntN(len(fragments) + 1)
		}
		blank := r.IntN(3)
		for range 1 + r.IntN(25) {
			k := kinds[r.IntN(len(kinds))]
			if k == len(fragments) {
				b.WriteString(random(r))
			} else {
				b.WriteString(fragments[k][r.IntN(len(fragments[k]))])
			}
			if blank == 0 || blank == 1 && r.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		out = append(out, b.String())
	}
	return out
}

// random returns one to four code points from one group of difficulty.
func random(r *rand.Rand) string {
	limit := []int32{0x80, 0x250, 0x3000, 0x10000, 0x20000, 0x110000}[r.IntN(6)]
	var b strings.Builder
	for range 1 + r.IntN(4) {
		if c := r.Int32N(limit); utf8.ValidRune(c) {
			b.WriteRune(c)
		}
	}
	return b.String()
}
